package main

import (
	"os"
	"path/filepath"
	"testing"

	"lipsync/internal/test/sharedtest"
)

// TestCurrent checks that the parts of the pages come from the current table, and that each page has all parts.
func TestCurrent(t *testing.T) {
	for file, parts := range map[string]map[string]string{"internal/http/rest/openapi.yaml": document(), "docs/api.md": tables()} {
		text, err := os.ReadFile(filepath.Join(sharedtest.Root(t), filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		switch current, err := replace(string(text), parts); {
		case err != nil:
			t.Errorf("%s: %v", file, err)
		case current != string(text):
			t.Errorf("%s does not come from the current table of options: run go generate ./internal/domain/order", file)
		}
	}
}
