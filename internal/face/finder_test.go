package face

import (
	"path/filepath"
	"testing"

	"lipsync/internal/onnx"
	"lipsync/internal/onnx/onnxtest"
)

// eachFinder runs a test on every kind of finder.
func eachFinder(t *testing.T, test func(t *testing.T, f Finder)) {
	for _, c := range []struct {
		name                string
		detector, landmarks bool // by a network
	}{{"cascades", false, false}, {"networks", true, true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var detector, landmarks *onnx.Session
			if c.detector {
				detector = load(t, "ultraface_rfb_320.onnx")
			}
			if c.landmarks {
				landmarks = load(t, "facemesh_192.onnx")
			}
			f, err := NewFinder(detector, landmarks)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := f.Close(); err != nil {
					t.Error(err)
				}
			})
			test(t, f)
		})
	}
}

// load loads one of the networks to try.
func load(t *testing.T, file string) *onnx.Session {
	t.Helper()
	path := filepath.Join(onnxtest.Models(t), file)
	s, err := onnxtest.Runtime(t).Load(path, onnx.Options{Threads: 1})
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
