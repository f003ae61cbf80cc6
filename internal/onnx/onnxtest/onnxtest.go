// Package onnxtest is for tests of neural networks. It has ONNX Runtime, networks
// to try, and a writer of small ones.
package onnxtest

import (
	"os"
	"path/filepath"
	"testing"

	"lipsync/internal/onnx"
	"lipsync/internal/settings"
)

// Runtime opens ONNX Runtime. Where it is missing the test is skipped, or fails if
// LIPSYNC_REQUIRE_ONNXRUNTIME is set.
func Runtime(t testing.TB) *onnx.Runtime {
	t.Helper()
	runtime, err := onnx.Open(Library(t))
	switch {
	case err == nil:
	case os.Getenv("LIPSYNC_REQUIRE_ONNXRUNTIME") != "":
		t.Fatal(err)
	default:
		t.Skip(err)
	}
	return runtime
}

// Load loads a model, one run of which uses one thread, until the test ends.
func Load(t testing.TB, path string) *onnx.Session {
	t.Helper()
	return LoadWith(t, path, onnx.Options{Threads: 1})
}

// LoadWith loads a model until the test ends.
func LoadWith(t testing.TB, path string, o onnx.Options) *onnx.Session {
	t.Helper()
	s, err := Runtime(t).Load(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// File writes the graph to a file of the test and returns its path.
func (g Graph) File(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.onnx")
	g.Write(t, path)
	return path
}

// Library is the shared library of ONNX Runtime: the one that the environment
// names, or that make onnxruntime installed, or empty.
func Library(t testing.TB) string {
	t.Helper()
	if path := os.Getenv(settings.ONNXRuntime.Env()); path != "" {
		return path
	}
	if path := filepath.Join(root(t), ".cache", "onnxruntime", "libonnxruntime.so"); exists(path) {
		return path
	}
	return ""
}

// Models returns the folder of networks to try, or skips the test: models in the
// folder that LIPSYNC_SHARED names, see docs/testing.md.
func Models(t testing.TB) string {
	t.Helper()
	shared := os.Getenv("LIPSYNC_SHARED")
	if shared == "" {
		shared = filepath.Join(root(t), "..", "shared")
	}
	models := filepath.Join(shared, "models")
	if !exists(models) {
		t.Skipf("%s is not there: set LIPSYNC_SHARED to the folder that holds models", models)
	}
	return models
}

// root is the repository: the folder above the test that holds go.mod.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil && !exists(filepath.Join(dir, "go.mod")) {
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
