// Package onnxtest is for tests of neural networks. It has ONNX Runtime, networks
// to try, and a writer of small ones.
package onnxtest

import (
	"os"
	"path/filepath"
	"testing"

	"lipsync/internal/domain/settings"
	"lipsync/internal/network/onnx"
	"lipsync/internal/test/sharedtest"
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
	if path := filepath.Join(sharedtest.Root(t), ".cache", "onnxruntime", "libonnxruntime.so"); exists(path) {
		return path
	}
	return ""
}

// Models returns the folder of networks to try, or skips the test: models in the
// folder that LIPSYNC_SHARED names, see docs/testing.md.
func Models(t testing.TB) string {
	t.Helper()
	return sharedtest.Path(t, "models")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
