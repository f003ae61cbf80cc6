package lipsync_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestImports holds the domain to the standard library and google/uuid.
func TestImports(t *testing.T) {
	files, err := filepath.Glob("*.go")
	must(t, err)
	checked := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		checked++
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		must(t, err)
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			must(t, err)
			// The first element of a path outside the standard library is a host.
			host, _, _ := strings.Cut(name, "/")
			if name != "github.com/google/uuid" && (strings.Contains(host, ".") || host == "lipsync") {
				t.Errorf("%s imports %s", file, name)
			}
		}
	}
	if checked == 0 {
		t.Error("no file was checked")
	}
}
