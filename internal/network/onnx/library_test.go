//go:build cgo

package onnx

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckVersion(t *testing.T) {
	for version, good := range map[string]bool{
		"1.24.4": true, "1.24.0": true, "1.31.0": true, "1.25.0-dev": true,
		"1.23.2": false, "1.9.0": false, "0.24.0": false, "2.0.0": false, "": false, "new": false,
	} {
		if err := checkVersion(version); (err == nil) != good {
			t.Errorf("%q: got %v", version, err)
		}
	}
	err := checkVersion("1.17.0")
	if want := "ONNX Runtime is of version 1.17.0, and 1.24 or a later 1.x is wanted: " + advice(); err.Error() != want {
		t.Errorf("got %s, want %s", err, want)
	}
}

// TestFind checks that a library that cannot be loaded is an error that says what to do.
func TestFind(t *testing.T) {
	text := filepath.Join(t.TempDir(), libraryName)
	if err := os.WriteFile(text, []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{text, text + ".gone", "libm.so.6"} { // the last is a library, but another one
		_, _, err := find(path)
		if err == nil || !strings.HasPrefix(err.Error(), "ONNX Runtime cannot be loaded (") || !strings.HasSuffix(err.Error(), advice()) {
			t.Errorf("%s: got %v", path, err)
		}
	}
}
