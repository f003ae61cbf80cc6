//go:build cgo

package onnx_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/network/onnx"
	"lipsync/internal/test/onnxtest"
)

// times is a network that multiplies a row of many numbers by weights, which all have the value.
func times(value float32) onnxtest.Graph {
	const count = 20_000
	row := []int{1, count}
	weights := onnxtest.Full(value, row...)
	weights.Name = "weights"
	return onnxtest.Graph{
		Inputs: []onnx.Info{{Name: "x", Type: onnx.Float32, Shape: row}}, Outputs: []onnx.Info{{Name: "y", Type: onnx.Float32, Shape: row}},
		Initializers: []onnxtest.Tensor{weights},
		Nodes:        []onnxtest.Node{{Op: "Mul", Inputs: []string{"x", "weights"}, Outputs: []string{"y"}}},
	}
}

// TestLargeModel loads models whose weights stay in the file. A change of the file after it was
// read changes numbers at most.
func TestLargeModel(t *testing.T) {
	runtime := onnxtest.Runtime(t)
	onnx.SetLarge(t, 0)
	folder := t.TempDir()
	path := filepath.Join(folder, "times.onnx")
	times(3).Write(t, path)
	link := filepath.Join(t.TempDir(), "link.onnx")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	use := func(m *onnx.Model) (float32, error) {
		s, err := runtime.LoadModel(m, onnx.Options{Threads: 1})
		if err != nil {
			return 0, err
		}
		defer s.Close()
		b := bind(t, s, [][]int{{1, 20_000}}, nil)
		b.Input(0)[19_999] = 2
		err = b.Run(t.Context())
		return b.Output(0)[19_999], err
	}
	for _, file := range []string{path, link} {
		m := read(t, file)
		if small := onnx.NewModel("times.onnx", times(3).Bytes()); m.SHA256 != small.SHA256 {
			t.Errorf("%s: got another digest than that of the content", file)
		}
		if got, err := use(m); got != 6 || err != nil {
			t.Errorf("%s: got %v, %v, want 6", file, got, err)
		}
	}
	for name, change := range map[string]func(){
		"other weights": func() { times(5).Write(t, path) },
		"another network": func() {
			g := times(3)
			g.Nodes[0].Op = "Add"
			g.Write(t, path)
		},
		"cut off": func() {
			if err := os.Truncate(path, 1000); err != nil {
				t.Fatal(err)
			}
		},
		"gone": func() {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		},
	} {
		times(3).Write(t, path)
		m := read(t, path)
		change()
		got, err := use(m)
		want := map[string]float32{"other weights": 10, "another network": 6}[name]
		var bad *onnx.ModelError
		if got != want || want == 0 && !errors.As(err, &bad) || want != 0 && err != nil {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, want)
		}
	}
}

func read(t *testing.T, path string) *onnx.Model {
	t.Helper()
	m, err := onnx.ReadModel(path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestLargeModelRefused checks large files that are no models, or claim more weights than they have.
func TestLargeModelRefused(t *testing.T) {
	runtime := onnxtest.Runtime(t)
	onnx.SetLarge(t, 0)
	less, more, elsewhere := times(3), times(3), times(3)
	less.Initializers[0].Shape = []int{1, 20_001}
	more.Initializers[0].Shape = []int{1 << 40, 1 << 40, 20_000}
	elsewhere.Initializers = slices.Insert(elsewhere.Initializers, 0, onnxtest.Tensor{Name: "other", Shape: []int{1}, File: "weights.bin"})
	whole := times(3).Bytes()
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"less than claimed": {less.Bytes(), "ONNX Runtime says"},
		"much claimed":      {more.Bytes(), "ONNX Runtime says"},
		"weights elsewhere": {elsewhere.Bytes(), "its weights are in other files"},
		"cut off":           {whole[:len(whole)-50_000], "it is not an ONNX file, or it is incomplete"},
		"zeros":             {make([]byte, 100_000), "it is not an ONNX file, or it is incomplete"},
		"empty":             {nil, "it is not an ONNX file, or it is incomplete"},
	} {
		path := filepath.Join(t.TempDir(), "large.onnx")
		if err := os.WriteFile(path, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		var bad *onnx.ModelError
		if s, err := runtime.Load(path, onnx.Options{}); !errors.As(err, &bad) || !strings.Contains(bad.Reason, c.want) {
			t.Errorf("%s: got %v and %v, want %s", name, s, err, c.want)
		}
	}
}
