package conventions

import (
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"strings"
	"testing"
)

// dialect has expressions that comments, help texts and pages must not contain, as patterns that
// begin and end with a word, and what to write instead.
var dialect = []struct{ expression, instead string }{
	{`but for`, "except"},
	{`that there (is|are|was|were)[.,;:)]`, "name the things"},
	{`of which there`, "short sentences"},
	{`held against|holds? \w+ against`, "compared with"},
	{`the house|studio`, "the service, this repository"},
	{`homes|(aws|both|each|either|this|that|one) home`, "deployment"},
	{`put off|puts off`, "postponed"},
	{`so as to|be it`, "to, or"},
	{`shall|hence|lest|thereof|whereof|wherein`, "today's words"},
	{`heed|heeds|heeded|forestalls?|forestalled|befalls?|reckons?|amiss|anew|in vain`, "today's words"},
	{`mend|mends|mended`, "repair, correct, fix"},
	{`looks? whether|looks? anew`, "check"},
	{`whoever`, "anyone who, no matter who"},
	{`what there (is|are)`, "name the things"},
	{`in the midst|for want of|makes? good`, "during, without, repair"},
	{`brings? (it|them|the \w+|a \w+) to the disk`, "sync"},
}

// TestDialect checks that the texts for people do not contain expressions of the dialect: comments
// of Go and of scripts, help texts of make, and pages.
func TestDialect(t *testing.T) {
	var expressions []string
	for _, d := range dialect {
		expressions = append(expressions, d.expression)
	}
	whole := regexp.MustCompile(`(?i)\b(?:` + strings.Join(expressions, "|") + `)(?:\W|$)`)
	read := 0
	for _, file := range tracked(t, "*.go", "*.md", "*.sh", "*Dockerfile", "Makefile", ".ci/*") {
		if file == "internal/test/conventions/dialect_test.go" || path.Ext(file) == ".json" || path.Ext(file) == ".txt" {
			continue
		}
		read++
		words := strings.Join(strings.Fields(prose(t, file)), " ")
		for _, at := range whole.FindAllStringIndex(words, -1) {
			t.Errorf("%s: got “…%s…”, want %s", file, words[max(0, at[0]-30):min(len(words), at[1]+30)], insteadOf(words[at[0]:at[1]]))
		}
	}
	if read < 500 {
		t.Errorf("%d files were read, too few", read)
	}
}

// insteadOf returns what to write instead of an expression of the dialect.
func insteadOf(found string) string {
	for _, d := range dialect {
		if regexp.MustCompile(`(?i)^(` + d.expression + `)(\W|$)`).MatchString(found) {
			return d.instead
		}
	}
	return "plain words"
}

// comment matches a comment of a script, a Makefile or a configuration.
var comment = regexp.MustCompile(`(?m)(?:^|\s)#+ (.*)$`)

// prose returns the text for people in a file: the comments of code, and the whole of a page.
func prose(t *testing.T, file string) string {
	t.Helper()
	content := text(t, file)
	var lines []string
	switch path.Ext(file) {
	case ".md":
		return content
	case ".go":
		var s scanner.Scanner
		files := token.NewFileSet()
		s.Init(files.AddFile(file, -1, len(content)), []byte(content), nil, scanner.ScanComments)
		for {
			_, kind, literal := s.Scan()
			if kind == token.EOF {
				return strings.Join(lines, "\n")
			}
			if kind == token.COMMENT {
				lines = append(lines, strings.ReplaceAll(strings.TrimLeft(literal, "/*"), "\n//", "\n"))
			}
		}
	default:
		for _, m := range comment.FindAllStringSubmatch(content, -1) {
			lines = append(lines, m[1])
		}
	}
	return strings.Join(lines, "\n")
}
