// Package house holds the rules of this repository as tests.
package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sources calls f with each Go file of the repository that is no test. Its path
// begins at the repository's root.
func sources(t *testing.T, f func(path string, file *ast.File)) {
	t.Helper()
	root := filepath.Join("..", "..")
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

// TestDomain holds the domain to the standard library and google/uuid.
func TestDomain(t *testing.T) {
	sources(t, func(path string, file *ast.File) {
		if !strings.HasPrefix(path, "internal/lipsync/") {
			return
		}
		for _, name := range imports(t, file) {
			// The first element of a path outside the standard library is a host.
			host, _, _ := strings.Cut(name, "/")
			if name != "github.com/google/uuid" && (strings.Contains(host, ".") || host == "lipsync") {
				t.Errorf("%s imports %s", path, name)
			}
		}
	})
}

// TestAdapters keeps adapters apart: of the repository they import only the domain,
// the version and the names of settings, except that openid implements a port of the dashboard, and ffmpeg starts programs in a sandbox.
func TestAdapters(t *testing.T) {
	adapters := []string{"archive", "batch", "dashboard", "disk", "dynamodb", "emf", "fetch", "ffmpeg", "gateway", "monitor", "openid", "rest", "s3", "sqlite", "sqs"}
	sources(t, func(path string, file *ast.File) {
		home, internal := strings.CutPrefix(filepath.ToSlash(filepath.Dir(path)), "internal/")
		if !internal || !slices.Contains(adapters, home) {
			return
		}
		for _, name := range imports(t, file) {
			allowed := name == "lipsync/internal/lipsync" || name == "lipsync/internal/version" || name == "lipsync/internal/settings" || home == "openid" && name == "lipsync/internal/dashboard" ||
				home == "ffmpeg" && name == "lipsync/internal/sandbox"
			if strings.HasPrefix(name, "lipsync/") && !allowed {
				t.Errorf("%s imports %s", path, name)
			}
		}
	})
}

// TestEnvironment leaves reading the environment to the programs, and to packages
// of tests.
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

// TestNoInit has packages do nothing until they are asked.
func TestNoInit(t *testing.T) {
	sources(t, func(path string, file *ast.File) {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s has an init function", path)
			}
		}
	})
}

// TestSchemas: no function of Lambda links the schemas that newer clients of AWS have, since these
// take a sixth of its cold start before it runs. Keep such a client at its last version without.
func TestSchemas(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "./functions/...")
	list.Dir = filepath.Join("..", "..")
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
