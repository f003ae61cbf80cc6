//go:build cgo

package onnx_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lipsync/internal/network/onnx"
	"lipsync/internal/test/onnxtest"
)

// TestLoadRefuses checks files that ONNX Runtime itself refuses, and paths that are no files.
func TestLoadRefuses(t *testing.T) {
	runtime := onnxtest.Runtime(t)
	weighed := func(w onnxtest.Tensor) onnxtest.Graph {
		w.Name = "b"
		g := onnxtest.Product(onnx.Float32)
		g.Inputs, g.Initializers = g.Inputs[:1], []onnxtest.Tensor{w}
		return g
	}
	noInput, noNode, unknown := onnxtest.Product(onnx.Float32), onnxtest.Product(onnx.Float32), onnxtest.Product(onnx.Float32)
	noInput.Inputs = nil
	noInput.Initializers = []onnxtest.Tensor{{Name: "a", Shape: []int{1}, Floats: []float32{1}}, {Name: "b", Shape: []int{1}, Floats: []float32{1}}}
	noNode.Nodes = nil
	unknown.Nodes[0].Op = "Juggle"
	for name, g := range map[string]onnxtest.Graph{
		"10 GB claimed":      weighed(onnxtest.Tensor{Shape: []int{2_500_000_000, 3}, Floats: []float32{1, 2, 3}}),
		"overflow claimed":   weighed(onnxtest.Tensor{Shape: []int{1 << 40, 1 << 40, 3}, Floats: []float32{1, 2, 3}}),
		"size below 0":       weighed(onnxtest.Tensor{Shape: []int{-1, 3}, Floats: []float32{1, 2, 3}}),
		"less than claimed":  weighed(onnxtest.Tensor{Shape: []int{1, 3}, Floats: []float32{1, 2}}),
		"weights elsewhere":  weighed(onnxtest.Tensor{Shape: []int{1, 3}, File: "weights.bin"}),
		"no input":           noInput,
		"nothing that makes": noNode,
		"unknown operator":   unknown,
	} {
		var bad *onnx.ModelError
		if s, err := runtime.Load(g.File(t), onnx.Options{}); !errors.As(err, &bad) {
			t.Errorf("%s: got %v and %v, want a *ModelError", name, s, err)
		}
	}
	dir := t.TempDir()
	for path, want := range map[string]string{
		dir:                               "it is not a regular file",
		filepath.Join(dir, "gone.onnx"):   "there is no such file",
		"/dev/zero":                       "it is not a regular file",
		sparse(t, dir, 3<<30):             "it is larger than 2 GiB",
		filepath.Join(dir, "x", "y.onnx"): "there is no such file",
	} {
		var bad *onnx.ModelError
		if _, err := runtime.Load(path, onnx.Options{}); !errors.As(err, &bad) || bad.Reason != want {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
}

// TestLoadsOnlyONNX loads a file that ONNX Runtime can take for one of its own
// format, ORT, by the identifier at bytes 4 to 7. The vetting reads such a file as
// ONNX, so the runtime must too.
func TestLoadsOnlyONNX(t *testing.T) {
	// The first field of the ModelProto: its tag and its length are bytes 0 and 1.
	const producer = "\x12\x06..ORTM"
	path := filepath.Join(t.TempDir(), "both.onnx")
	if err := os.WriteFile(path, append([]byte(producer), onnxtest.Product(onnx.Float32).Bytes()...), 0o600); err != nil {
		t.Fatal(err)
	}
	b := bind(t, onnxtest.LoadWith(t, path, onnx.Options{}), [][]int{{1, 3}, {1, 3}}, nil)
	copy(b.Input(0), []float32{1, 2, 3})
	copy(b.Input(1), []float32{4, 5, 6})
	if err := b.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := b.Output(0), []float32{4, 10, 18}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// sparse makes a file of the size that takes no space on the disk.
func sparse(t *testing.T, dir string, size int64) string {
	t.Helper()
	path := filepath.Join(dir, "large.onnx")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestMemoryIsBounded checks networks of some bytes that ask for 10 GB of memory, by their
// input or by constants. They must fail, and the next network must run.
func TestMemoryIsBounded(t *testing.T) {
	row := []onnx.Info{{Name: "x", Type: onnx.Float32, Shape: []int{1, 1}}}
	for _, from := range []string{"x", "one"} {
		s := onnxtest.LoadWith(t, onnxtest.Graph{
			Inputs: row, Outputs: []onnx.Info{{Name: "y", Type: onnx.Float32, Shape: []int{1, 1}}},
			Initializers: []onnxtest.Tensor{
				{Name: "one", Shape: []int{1, 1}, Floats: []float32{1}},
				{Name: "size", Shape: []int{2}, Ints: []int64{50_000, 50_000}},
			},
			Nodes: []onnxtest.Node{
				{Op: "Expand", Inputs: []string{from, "size"}, Outputs: []string{"large"}},
				{Op: "ReduceMax", Inputs: []string{"large"}, Outputs: []string{"max"}},
				{Op: "Add", Inputs: []string{"max", "x"}, Outputs: []string{"y"}},
			},
		}.File(t), onnx.Options{})
		if err := bind(t, s, [][]int{{1, 1}}, nil).Run(t.Context()); !errors.Is(err, onnx.ErrMemory) {
			t.Errorf("10 GB made of %s: got %v, want %v", from, err, onnx.ErrMemory)
		}
	}
	s := onnxtest.LoadWith(t, onnxtest.Product(onnx.Float32).File(t), onnx.Options{})
	if err := bind(t, s, [][]int{{1, 3}, {1, 3}}, nil).Run(t.Context()); err != nil {
		t.Errorf("after that: %v", err)
	}
	if peak := status(t, "VmHWM"); peak > 2<<30 {
		t.Errorf("the process took %d MiB", peak>>20)
	}
}

// TestNothingLeaks loads, binds, runs and closes a network of 4 MiB, with tensors of
// 2 MiB, many times, even if that fails. Some memory is kept for the next network, but
// 200 lost networks would take far more.
func TestNothingLeaks(t *testing.T) {
	const side = 1024
	path := onnxtest.Graph{
		Inputs:       []onnx.Info{{Name: "x", Type: onnx.Float32, Shape: []int{-1, side}}},
		Outputs:      []onnx.Info{{Name: "y", Type: onnx.Float32, Shape: []int{-1, side}}},
		Initializers: []onnxtest.Tensor{{Name: "w", Shape: []int{side, side}, Floats: make([]float32, side*side)}},
		Nodes:        []onnxtest.Node{{Op: "MatMul", Inputs: []string{"x", "w"}, Outputs: []string{"y"}}},
	}.File(t)
	cycle := func() {
		s := onnxtest.LoadWith(t, path, onnx.Options{})
		b := bind(t, s, [][]int{{256, side}}, nil)
		if err := b.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Bind(t.Context(), [][]int{{256, side}}, [][]int{{256}}); err == nil {
			t.Fatal("a shape that does not fit was bound")
		}
		if err := errors.Join(b.Close(), b.Close(), s.Close(), s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	resident := func(cycles int) int {
		for range cycles {
			cycle()
		}
		debug.FreeOSMemory()
		return status(t, "VmRSS")
	}
	before := resident(20)
	if after := resident(200); after > before+128<<20 {
		t.Errorf("after 200 more networks: %d MiB, were %d MiB", after>>20, before>>20)
	}
}

// status returns a size in /proc/self/status, in bytes.
func status(t *testing.T, name string) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, name+":"); found {
			kilobytes, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			if err != nil {
				t.Fatal(err)
			}
			return kilobytes << 10
		}
	}
	t.Fatalf("no %s in the status", name)
	return 0
}
