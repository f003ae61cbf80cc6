package conventions

import (
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/test/sharedtest"
)

var (
	fence   = regexp.MustCompile("(?ms)^```.*?^```$")
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	link    = regexp.MustCompile(`\[([^\]]*)\]\(([^)\s]+)\)`)
	markup  = regexp.MustCompile(`[^\p{L}\p{N}\p{M} _-]`)
)

// anchors returns the anchors of a page's headings, as GitHub makes them.
func anchors(page string) (names []string) {
	for _, h := range heading.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		name := strings.ReplaceAll(markup.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-")
		names = append(names, name)
	}
	return names
}

// TestLinks checks that docs/README.md lists all pages of docs, and that the relative links of all
// pages lead to an existing file or folder, and to an existing heading if they have an anchor. If
// the text of a link to a Go file is code, the file must declare that name: `Name`, `Type.Member`,
// or either after the package.
func TestLinks(t *testing.T) {
	code := map[string]int{} // number of links to Go by page
	for _, page := range tracked(t, "*.md") {
		for _, l := range link.FindAllStringSubmatch(fence.ReplaceAllString(text(t, page), ""), -1) {
			said, target := l[1], l[2]
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(target, "#")
			if file = path.Join(path.Dir(page), file); strings.HasPrefix(target, "#") {
				file = page
			}
			if _, err := os.Stat(filepath.Join(sharedtest.Root(t), file)); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, target)
				continue
			}
			if anchor != "" && !slices.Contains(anchors(text(t, file)), anchor) {
				t.Errorf("%s links to %s, which has no such heading", page, target)
			}
			if name := strings.Trim(said, "`"); name != said && path.Ext(file) == ".go" {
				code[page]++
				if !slices.Contains(declared(t, file), name) {
					t.Errorf("%s says that %s has %s, which it doesn't", page, file, name)
				}
			}
		}
	}
	index := text(t, "docs/README.md")
	for _, page := range tracked(t, "docs/*.md") {
		if name := path.Base(page); name != "README.md" && !strings.Contains(index, "("+name+")") {
			t.Errorf("docs/README.md doesn't list %s", name)
		}
	}
	if got := code["docs/architecture.md"]; got < 40 {
		t.Errorf("docs/architecture.md names %d things by links to Go, want 40 or more", got)
	}
}

// declared returns the declarations of a file, with and without its package.
func declared(t *testing.T, file string) []string {
	t.Helper()
	source, err := parser.ParseFile(token.NewFileSet(), filepath.Join(sharedtest.Root(t), file), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := declarations(source)
	for _, n := range names {
		names = append(names, source.Name.Name+"."+n)
	}
	return names
}

// TestNamedTests checks that the tests, fuzz targets and benchmarks that pages name are there.
func TestNamedTests(t *testing.T) {
	there := map[string]bool{}
	for _, file := range tracked(t, "*.go") {
		for _, f := range regexp.MustCompile(`(?m)^func ((Test|Fuzz|Benchmark)\w+)\(`).FindAllStringSubmatch(text(t, file), -1) {
			there[f[1]] = true
		}
	}
	for _, page := range tracked(t, "*.md") {
		for _, name := range regexp.MustCompile(`\b(Test|Fuzz|Benchmark)[A-Z]\w*`).FindAllString(text(t, page), -1) {
			if !there[name] {
				t.Errorf("%s names %s, which is not there", page, name)
			}
		}
	}
}
