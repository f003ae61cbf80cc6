package main

import (
	"os"
	"path/filepath"
	"testing"

	"lipsync/internal/test/sharedtest"
)

// TestPage checks that docs/errors.md comes from the codes as they are.
func TestPage(t *testing.T) {
	root := sharedtest.Root(t)
	want, err := page(root)
	if err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(filepath.Join(root, "docs", "errors.md"))
	if err != nil || string(written) != want {
		t.Errorf("docs/errors.md does not come from the codes (%v): run go generate ./internal/domain/failure", err)
	}
}
