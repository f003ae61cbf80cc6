package conventions

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
	"testing"
)

var (
	drawn    = regexp.MustCompile(`([a-z0-9]+)(?:/([a-z0-9]+)|/\{([a-z0-9,]+)\})?`)
	groupDoc = regexp.MustCompile(`^internal/[^/]+/doc\.go$`)
)

// TestDrawing checks that the first drawing of docs/architecture.md names each folder of internal and each package in it, except commands and those of
// internal/test: as often as there are packages with the name, and those in a package as package/name or package/{name,name}.
func TestDrawing(t *testing.T) {
	named := map[string]int{}
	for _, name := range drawn.FindAllStringSubmatch(fence.FindString(text(t, "docs/architecture.md")), -1) {
		named[name[1]]++
		for _, inner := range strings.Split(name[2]+name[3], ",") {
			named[name[1]+"/"+inner]++
		}
	}
	packages := map[string]string{} // names by folder
	sources(t, func(file string, source *ast.File) {
		group, sub, internal := place(path.Dir(file))
		if !internal || strings.Contains(file, "/testdata/") {
			return
		}
		packages["the folder "+group] = group
		if group != "test" && source.Name.Name != "main" && !groupDoc.MatchString(file) {
			packages[path.Dir(file)] = sub
		}
	})
	wanted := map[string]int{}
	for folder, name := range packages {
		if wanted[name]++; named[name] < wanted[name] {
			t.Errorf("docs/architecture.md draws %s %d times, want %s too", name, named[name], folder)
		}
	}
	if len(packages) < 60 {
		t.Errorf("got %d packages, too few", len(packages))
	}
}
