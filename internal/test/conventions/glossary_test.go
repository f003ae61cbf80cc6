package conventions

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lipsync/internal/test/sharedtest"
)

// TestGlossary checks that the code has the names in the glossary: `package.Name`, or
// `package.Type.Member`.
func TestGlossary(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(sharedtest.Root(t), "docs", "glossary.md"))
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]bool{}
	sources(t, func(file string, source *ast.File) {
		for _, name := range declarations(source) {
			declared[path.Base(path.Dir(file))+"."+name] = true
		}
	})
	names := regexp.MustCompile("`([a-z0-9]+\\.[A-Z][A-Za-z.]*)`").FindAllStringSubmatch(string(text), -1)
	if len(names) < 30 {
		t.Errorf("got %d names, want 30 or more", len(names))
	}
	for _, n := range names {
		if !declared[n[1]] {
			t.Errorf("the glossary names %s, which does not exist", n[1])
		}
	}
	first := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, " | "); len(cells) == 3 {
			for term := range strings.SplitSeq(strings.TrimPrefix(cells[0], "| "), ", ") {
				if first[term] != "" {
					t.Errorf("%q has two lines", term)
				}
				if first[term] = line; term == "Term" {
					first[term] = ""
				}
			}
		}
	}
}

// declarations returns the names of a file's functions, types, variables and constants; and those
// of methods, of an interface's methods and of a struct's fields as Type.Member.
func declarations(file *ast.File) (names []string) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names = append(names, d.Name.Name)
				continue
			}
			receiver := d.Recv.List[0].Type
			if star, ok := receiver.(*ast.StarExpr); ok {
				receiver = star.X
			}
			if of, ok := receiver.(*ast.Ident); ok {
				names = append(names, of.Name+"."+d.Name.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if value, ok := s.(*ast.ValueSpec); ok {
					for _, n := range value.Names {
						names = append(names, n.Name)
					}
				}
				s, ok := s.(*ast.TypeSpec)
				if !ok {
					continue
				}
				names = append(names, s.Name.Name)
				var members *ast.FieldList
				switch of := s.Type.(type) {
				case *ast.InterfaceType:
					members = of.Methods
				case *ast.StructType:
					members = of.Fields
				default:
					continue
				}
				for _, m := range members.List {
					for _, n := range m.Names {
						names = append(names, s.Name.Name+"."+n.Name)
					}
				}
			}
		}
	}
	return names
}
