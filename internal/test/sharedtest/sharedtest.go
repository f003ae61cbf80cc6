// Package sharedtest finds what tests may use and the repository doesn't hold: clips of people,
// networks and measuring tools. docs/testing.md lists them.
package sharedtest

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"
)

// Path returns the absolute path of a file or folder, of which it gets the names of the folders above
// and its own. It skips the test if there is none.
func Path(t testing.TB, names ...string) string {
	t.Helper()
	path, ok := Find(t, names...)
	if !ok {
		t.Skipf("%s is not there: set LIPSYNC_SHARED to the folder that holds it", path)
	}
	return path
}

// Find is Path for tests that do without. It reports whether there is such a file or folder.
func Find(t testing.TB, names ...string) (path string, ok bool) {
	t.Helper()
	shared := cmp.Or(os.Getenv("LIPSYNC_SHARED"), filepath.Join(Root(t), "..", "shared"))
	path, err := filepath.Abs(filepath.Join(append([]string{shared}, names...)...))
	if err != nil {
		t.Fatal(err)
	}
	_, err = os.Stat(path)
	return path, err == nil
}

// Root returns the repository: the folder above the test that holds go.mod.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
}
