package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lipsync/internal/test/sharedtest"
)

// TestShip checks that no link of a shipped page is dead, and that the pages and the files for monitoring are there.
func TestShip(t *testing.T) {
	folder := t.TempDir()
	if err := ship(os.DirFS(sharedtest.Root(t)), folder); err != nil {
		t.Fatal(err)
	}
	links := 0
	err := filepath.WalkDir(folder, func(page string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(page) != ".md" {
			return err
		}
		text, err := os.ReadFile(page)
		for _, l := range link.FindAllStringSubmatch(string(text), -1) {
			file, _, _ := strings.Cut(l[2], "#")
			if file == "" || strings.Contains(file, ":") {
				continue
			}
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), file)); err != nil {
				t.Errorf("%s links to %s: %v", page, l[2], err)
			}
		}
		return err
	})
	if err != nil || links < 100 {
		t.Errorf("got %d links (%v), want more", links, err)
	}
	for _, name := range []string{"README.md", "docs/operations.md", "docs/settings.md", "docs/pictures/before-after.jpg", "monitoring/alerts.yaml", "monitoring/dashboard.json", "packaging/compose.yaml"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestRelink(t *testing.T) {
	has := map[string]bool{"docs/a.md": true, "docs": true}
	page := "[a](a.md#x) [b](../internal/b.go) ![p](p.jpg) [c](https://c) [d](#d) [e](.) `[f](g)`"
	if got, want := relink(page, "docs", has), "[a](a.md#x) b p [c](https://c) [d](#d) [e](.) `f`"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
