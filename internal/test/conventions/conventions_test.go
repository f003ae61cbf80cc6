// Package conventions tests the rules of this repository: what packages may import, which words
// texts use, how dependencies are pinned, and what its pages refer to.
package conventions

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lipsync/internal/test/sharedtest"
)

// sourceLines calls f with the lines of each file of sources.
func sourceLines(t *testing.T, f func(path string, lines []string)) {
	t.Helper()
	sources(t, func(path string, _ *ast.File) {
		text, err := os.ReadFile(filepath.Join(sharedtest.Root(t), path))
		if err != nil {
			t.Fatal(err)
		}
		f(path, strings.Split(string(text), "\n"))
	})
}

// sources calls f with each Go file of the repository except tests. Its path is relative to the
// repository's root.
func sources(t *testing.T, f func(path string, file *ast.File)) {
	t.Helper()
	root := sharedtest.Root(t)
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." && (strings.HasPrefix(name, ".") || name == "bin" || name == "dist") {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		seen++
		f(filepath.ToSlash(name), file)
		return nil
	})
	if err != nil || seen == 0 {
		t.Fatalf("%d files were checked, then: %v", seen, err)
	}
}

func imports(t *testing.T, file *ast.File) []string {
	t.Helper()
	var names []string
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

// TestEnvironment checks that only programs and packages of tests read the environment.
func TestEnvironment(t *testing.T) {
	readers := []string{"Getenv", "LookupEnv", "Environ", "ExpandEnv", "UserHomeDir", "UserCacheDir", "UserConfigDir"}
	sources(t, func(path string, file *ast.File) {
		if file.Name.Name == "main" || slices.Contains(imports(t, file), "testing") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "os" && slices.Contains(readers, s.Sel.Name) {
				t.Errorf("%s uses os.%s", path, s.Sel.Name)
			}
			return true
		})
	})
}

// TestNoInit checks that packages do nothing until they are called.
func TestNoInit(t *testing.T) {
	sources(t, func(path string, file *ast.File) {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s has an init function", path)
			}
		}
	})
}

// TestSchemas checks that functions of Lambda don't link the schemas of newer AWS clients, since
// these take a sixth of the cold start before the function runs. Keep such a client at its last
// version without schemas.
func TestSchemas(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "./functions/...")
	list.Dir = sharedtest.Root(t)
	out, err := list.Output()
	if err != nil || !strings.Contains(string(out), "aws-sdk-go-v2/service/dynamodb\n") {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	for name := range strings.SplitSeq(string(out), "\n") {
		if strings.HasPrefix(name, "github.com/aws/") && strings.HasSuffix(name, "/schemas") {
			t.Errorf("functions link %s", name)
		}
	}
}
