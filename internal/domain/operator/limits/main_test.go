package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lipsync/internal/domain/settings"
	"lipsync/internal/test/sharedtest"
)

// TestPage checks that docs/limits.md comes from the current code.
func TestPage(t *testing.T) {
	root := sharedtest.Root(t)
	want, err := page(root)
	if err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(filepath.Join(root, "docs", "limits.md"))
	if string(written) != want {
		t.Errorf("docs/limits.md does not come from the current code (%v): run go generate ./internal/domain/operator", err)
	}
	for _, e := range settings.At(settings.Machine | settings.Stack) {
		if line := e.Line(); strings.HasPrefix(line.Name, "max-") && line.Name != "max-workers" && !strings.Contains(want, line.Flag()) {
			t.Errorf("the page lacks %s", line.Flag())
		}
	}
}

// TestMissing reads a constant that isn't there.
func TestMissing(t *testing.T) {
	c := constants{root: sharedtest.Root(t), read: make(map[string]map[string]int64)}
	if c.of("internal/http/rest", "none"); c.err == nil {
		t.Error("no error for a constant that is missing")
	}
}
