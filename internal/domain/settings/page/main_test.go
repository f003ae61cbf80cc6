package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lipsync/internal/domain/settings"
	"lipsync/internal/test/sharedtest"
)

// TestPage checks that the generated files come from the current table.
func TestPage(t *testing.T) {
	for name, want := range map[string]string{"docs/settings.md": page(), "packaging/default": variables()} {
		written, err := os.ReadFile(filepath.Join(sharedtest.Root(t), name))
		if err != nil {
			t.Fatal(err)
		}
		if string(written) != want {
			t.Errorf("%s does not come from the current table of settings: run go generate ./internal/domain/settings", name)
		}
	}
}

// TestPageHasAll checks that the page has each setting, with its name in each place to set it.
func TestPageHasAll(t *testing.T) {
	page := page()
	for _, e := range settings.At(settings.Machine | settings.Caller | settings.Stack) {
		line := e.Line()
		if flag := "`" + line.Flag(); line.Where&(settings.Machine|settings.Caller) != 0 && !strings.Contains(page, flag) {
			t.Errorf("the page lacks %s", flag)
		}
		if line.Where&settings.Stack != 0 && !strings.Contains(page, name(line)) {
			t.Errorf("the page lacks %s", name(line))
		}
	}
}
