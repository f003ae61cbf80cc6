package conventions

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/domain/order"
	"lipsync/internal/test/sharedtest"
)

var tree = flag.String("tree", "", "the checkout that TestFigures counts; by default this one")

// figures has the figures that TestFigures counts in the Go files of a checkout.
type figures struct {
	lines, comments, written, files int // written is the number of lines that are not empty
	functions                       []int
	names                           map[string]bool // package.word, of declared names
	packages                        map[string]int  // lines by folder
	exported                        int             // functions, methods, types, variables and constants
}

// Folders whose Go isn't a part of the product, by the last parts of their paths: tools of ours, and the support of
// tests. They stand also for checkouts in which these folders have other places.
var (
	toolFolders    = regexp.MustCompile(`(^|/)(cmd/(quality|gpu-check|sbom|slowest)|infra/(local|smoke)|gpucheck|measure|demo|simulate)(/|$)`)
	supportFolders = regexp.MustCompile(`(^|/)(test|[a-z0-9]+test|fakebatch|soak|hostile|conventions|testdata)(/|$)`)
)

// TestFigures prints figures of the code and its pages. Use it to compare two commits. It fails only if it finds no
// code.
func TestFigures(t *testing.T) {
	tree := cmp.Or(*tree, sharedtest.Root(t))
	none := func() *figures { return &figures{names: map[string]bool{}, packages: map[string]int{}} }
	all, product, tools, support, tests := none(), none(), none(), none(), none()
	for _, path := range listed(t, tree, "*.go") {
		text, err := os.ReadFile(filepath.Join(tree, path))
		if err != nil {
			t.Fatal(err)
		}
		f := product
		switch dir := filepath.ToSlash(filepath.Dir(path)); {
		case strings.HasSuffix(path, "_test.go"):
			f = tests
		case bytes.HasPrefix(text, []byte("// Code generated ")):
			continue
		case toolFolders.MatchString(dir):
			f = tools
		case supportFolders.MatchString(dir):
			f = support
		}
		f.add(t, path, text)
		if f != tests {
			all.add(t, path, text)
		}
	}
	if len(all.functions) < 100 {
		t.Fatalf("got %d functions in %s, want 100 or more", len(all.functions), tree)
	}
	module, err := os.ReadFile(filepath.Join(tree, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	direct := regexp.MustCompile(`(?m)^\t\S+ v\S+$`).FindAll(module, -1)
	concepts, others := all.others(t)
	slices.Sort(all.functions)
	at := func(share float64) int { return all.functions[int(share*float64(len(all.functions)-1))] }
	t.Logf("| files: product, tools, support of tests, tests | %d, %d, %d, %d |", product.files, tools.files, support.files, tests.files)
	t.Logf("| lines: product, tools, support of tests, tests | %d, %d, %d, %d |", product.lines, tools.lines, support.lines, tests.lines)
	t.Logf("| packages of more than 2000 lines | %s |", strings.Join(product.large(2000), ", "))
	t.Logf("| exported names of product and tools | %d |", product.exported+tools.exported)
	t.Logf("| files of the product that name an option: fewest, median, most | %s |", spelled(t, tree))
	t.Logf("| functions | %d |", len(all.functions))
	t.Logf("| lines of a function: median, 95th percentile, most | %d, %d, %d |", at(.5), at(.95), at(1))
	t.Logf("| share of lines with a comment, of those that are not empty | %.1f %% |", 100*float64(all.comments)/float64(all.written))
	t.Logf("| direct dependencies | %d |", len(direct))
	t.Logf("| words of pages | %d |", words(t, tree))
	t.Logf("| names for a concept, of %d | %.2f |", concepts, 1+float64(len(others))/float64(concepts))
	t.Logf("| other names | %s |", strings.Join(others, ", "))
}

// listed returns the paths of files that git tracks in a checkout.
func listed(t *testing.T, tree, pattern string) []string {
	t.Helper()
	files, err := exec.CommandContext(t.Context(), "git", "-C", tree, "ls-files", pattern).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(files))
}

// words returns the number of words of a checkout's pages.
func words(t *testing.T, tree string) (n int) {
	t.Helper()
	for _, path := range listed(t, tree, "*.md") {
		text, err := os.ReadFile(filepath.Join(tree, path))
		if err != nil {
			t.Fatal(err)
		}
		n += len(strings.Fields(string(text)))
	}
	return n
}

// spelled returns in how many Go files of the product the options stand, by their names in JSON and by their fields:
// the fewest, the median and the most, with the option that has the most.
func spelled(t *testing.T, tree string) string {
	t.Helper()
	counts := map[string]int{}
	for _, path := range listed(t, tree, "*.go") {
		dir := filepath.ToSlash(filepath.Dir(path))
		if strings.HasSuffix(path, "_test.go") || toolFolders.MatchString(dir) || supportFolders.MatchString(dir) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(tree, path))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range order.OptionsAt(order.OfRequest) {
			field := regexp.MustCompile(`(^|_)[a-z]`).ReplaceAllStringFunc(o.Name, func(s string) string { return strings.ToUpper(strings.TrimPrefix(s, "_")) })
			if regexp.MustCompile(`["\x60]` + o.Name + `["\x60]|\bOptions\.` + field + `\b|\b` + field + `:`).Match(text) {
				counts[o.Name]++
			}
		}
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Compare(counts[a], counts[b]) })
	if len(names) == 0 {
		return "none"
	}
	most := names[len(names)-1]
	return fmt.Sprintf("%d, %d, %d (%s)", counts[names[0]], counts[names[len(names)/2]], counts[most], most)
}

// large returns the packages with more lines, the largest first.
func (f *figures) large(lines int) (all []string) {
	for _, name := range slices.SortedFunc(maps.Keys(f.packages), func(a, b string) int { return cmp.Compare(f.packages[b], f.packages[a]) }) {
		if f.packages[name] > lines {
			all = append(all, fmt.Sprintf("%s %d", strings.TrimPrefix(name, "internal/"), f.packages[name]))
		}
	}
	return all
}

// add counts a file.
func (f *figures) add(t *testing.T, path string, text []byte) {
	t.Helper()
	positions := token.NewFileSet()
	file, err := parser.ParseFile(positions, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	f.files++
	f.packages[filepath.ToSlash(filepath.Dir(path))] += bytes.Count(text, []byte("\n"))
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
		function, ok := d.(*ast.FuncDecl)
		if ok && function.Body != nil {
			f.functions = append(f.functions, long(function))
		}
		if ok && function.Recv != nil && function.Name.IsExported() {
			f.exported++
		}
	}
	for _, name := range declarations(file) {
		if ast.IsExported(name) && !strings.Contains(name, ".") {
			f.exported++
		}
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
