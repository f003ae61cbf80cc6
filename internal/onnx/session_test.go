//go:build cgo

package onnx_test

import (
	"context"
	"path/filepath"
	"testing"

	"lipsync/internal/onnx"
	"lipsync/internal/onnx/onnxtest"
)

// write writes a network to a file of its own and returns its path.
func write(t testing.TB, g onnxtest.Graph) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.onnx")
	g.Write(t, path)
	return path
}

func load(t testing.TB, path string, o onnx.Options) *onnx.Session {
	t.Helper()
	session, err := onnxtest.Runtime(t).Load(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

func bind(t testing.TB, s *onnx.Session, inputs, outputs [][]int) *onnx.Binding {
	t.Helper()
	binding, err := s.Bind(inputs, outputs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { binding.Close() })
	return binding
}

func TestRun(t *testing.T) {
	for _, kind := range []onnx.Type{onnx.Float32, onnx.Float16} {
		s := load(t, write(t, product(kind)), onnx.Options{})
		for _, outputs := range [][][]int{{{2, 3}}, nil} {
			if outputs == nil && kind == onnx.Float16 {
				continue // these have to be given
			}
			b := bind(t, s, [][]int{{2, 3}, {1, 3}}, outputs)
			copy(b.Input(0), []float32{1, 2, 3, 4, 5, 6})
			copy(b.Input(1), []float32{2, 0.5, -1})
			if err := b.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
			want := []float32{2, 1, -3, 8, 2.5, -6}
			if got := b.Output(0); len(got) != len(want) {
				t.Fatalf("%s: got %v, want %v", kind, got, want)
			}
			for i, got := range b.Output(0) {
				if got != want[i] {
					t.Errorf("%s: got %v, want %v", kind, b.Output(0), want)
				}
			}
		}
	}
}
