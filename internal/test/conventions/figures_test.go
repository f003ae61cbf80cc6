package conventions

import (
	"cmp"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/test/sharedtest"
)

var tree = flag.String("tree", "", "the checkout that TestFigures counts; by default this one")

// figures has the figures that TestFigures counts in the Go files of a checkout.
type figures struct {
	lines, comments, written, files int // written is the number of lines that are not empty
	functions                       []int
	names                           map[string]bool // package.word, of declared names
}

// TestFigures prints figures of the code: lines, files, the lines of functions, the share of
// comments, direct dependencies, and how many names a concept of the glossary has. Use it to
// compare two commits. It fails only if it finds no code.
func TestFigures(t *testing.T) {
	tree := cmp.Or(*tree, sharedtest.Root(t))
	files, err := exec.CommandContext(t.Context(), "git", "-C", tree, "ls-files", "*.go").Output()
	if err != nil {
		t.Fatal(err)
	}
	product, tests := figures{names: map[string]bool{}}, figures{names: map[string]bool{}}
	for _, path := range strings.Fields(string(files)) {
		f := &product
		if strings.HasSuffix(path, "_test.go") {
			f = &tests
		}
		f.add(t, filepath.Join(tree, path))
	}
	if len(product.functions) < 100 {
		t.Fatalf("got %d functions in %s, want 100 or more", len(product.functions), tree)
	}
	module, err := os.ReadFile(filepath.Join(tree, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	direct := regexp.MustCompile(`(?m)^\t\S+ v\S+$`).FindAll(module, -1)
	concepts, others := product.others(t)
	slices.Sort(product.functions)
	at := func(share float64) int { return product.functions[int(share*float64(len(product.functions)-1))] }
	t.Logf("| files, of tests | %d, %d |", product.files, tests.files)
	t.Logf("| lines, of tests | %d, %d |", product.lines, tests.lines)
	t.Logf("| functions | %d |", len(product.functions))
	t.Logf("| lines of a function: median, 95th percentile, most | %d, %d, %d |", at(.5), at(.95), at(1))
	t.Logf("| share of lines with a comment, of those that are not empty | %.1f %% |", 100*float64(product.comments)/float64(product.written))
	t.Logf("| direct dependencies | %d |", len(direct))
	t.Logf("| names for a concept, of %d | %.2f |", concepts, 1+float64(len(others))/float64(concepts))
	t.Logf("| other names | %s |", strings.Join(others, ", "))
}

// add counts a file.
func (f *figures) add(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	positions := token.NewFileSet()
	file, err := parser.ParseFile(positions, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	f.files++
	for line := range strings.Lines(string(text)) {
		f.lines++
		if strings.TrimSpace(line) != "" {
			f.written++
		}
	}
	long := func(n ast.Node) int { return positions.Position(n.End()).Line - positions.Position(n.Pos()).Line + 1 }
	for _, c := range file.Comments {
		f.comments += long(c)
	}
	for _, d := range file.Decls {
		if function, ok := d.(*ast.FuncDecl); ok && function.Body != nil {
			f.functions = append(f.functions, long(function))
		}
	}
	for _, name := range declarations(file) {
		for _, word := range regexp.MustCompile(`[A-Z]?[a-z]+`).FindAllString(name, -1) {
			f.names[filepath.Base(filepath.Dir(path))+"."+strings.ToLower(word)] = true
		}
	}
}

// others returns how many terms the glossary has, and which other words declared names use for
// them.
func (f *figures) others(t *testing.T) (concepts int, found []string) {
	t.Helper()
	for line := range strings.Lines(text(t, "docs/glossary.md")) {
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| Term ") {
			concepts++
		}
	}
	for line := range strings.Lines(text(t, "internal/test/conventions/testdata/names.txt")) {
		term, words, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		for word := range strings.FieldsSeq(words) {
			for name := range f.names {
				if name == word || strings.HasPrefix(word, "*.") && strings.HasSuffix(name, word[1:]) {
					found = append(found, word+" for "+term)
					break
				}
			}
		}
	}
	return concepts, found
}
