//go:build cgo

package onnx_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lipsync/internal/network/onnx"
	"lipsync/internal/test/onnxtest"
)

func bind(t testing.TB, s *onnx.Session, inputs, outputs [][]int) *onnx.Binding {
	t.Helper()
	binding, err := s.Bind(t.Context(), inputs, outputs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { binding.Close() })
	return binding
}

func TestRun(t *testing.T) {
	for _, kind := range []onnx.Type{onnx.Float32, onnx.Float16} {
		s := onnxtest.LoadWith(t, onnxtest.Product(kind).File(t), onnx.Options{})
		b := bind(t, s, [][]int{{2, 3}, {1, 3}}, [][]int{{2, 3}})
		for i := range 3 { // the same memory each time
			x := float32(i)
			copy(b.Input(0), []float32{x, 2, 3, 4, 5, 6})
			copy(b.Input(1), []float32{2, 0.5, -1})
			if err := b.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			want := []float32{2 * x, 1, -3, 8, 2.5, -6}
			if got := b.Output(0); !slices.Equal(got, want) {
				t.Errorf("%s: got %v, want %v", kind, got, want)
			}
		}
	}
}

func TestProvider(t *testing.T) {
	path := onnxtest.Product(onnx.Float32).File(t)
	s := onnxtest.LoadWith(t, path, onnx.Options{Providers: []onnx.Provider{onnx.CPU}})
	if got := s.Provider(); got != onnx.CPU {
		t.Errorf("got %s, want CPU", got)
	}
	_, err := onnxtest.Runtime(t).Load(path, onnx.Options{Providers: []onnx.Provider{"abacus"}})
	if want := `abacus is not available: there is no provider "abacus"`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	// Where there is a GPU, it is taken; where there is none, that is no failure.
	if s := onnxtest.LoadWith(t, path, onnx.Options{Providers: []onnx.Provider{"abacus", onnx.CUDA, onnx.CPU}}); s.Provider() == "abacus" {
		t.Errorf("got %s", s.Provider())
	}
}

// TestBindFindsShapes: the sizes of outputs that neither model nor caller know.
func TestBindFindsShapes(t *testing.T) {
	s := onnxtest.LoadWith(t, onnxtest.Product(onnx.Float32).File(t), onnx.Options{})
	if got := bind(t, s, [][]int{{5, 3}, {1, 3}}, nil).OutputShape(0); !slices.Equal(got, []int{5, 3}) {
		t.Errorf("got %v, want 5×3", got)
	}
	halves := onnxtest.LoadWith(t, onnxtest.Product(onnx.Float16).File(t), onnx.Options{})
	if _, err := halves.Bind(t.Context(), [][]int{{5, 3}, {1, 3}}, nil); err == nil || !strings.Contains(err.Error(), "has to be given") {
		t.Errorf("got %v", err)
	}
}

func TestBindRefuses(t *testing.T) {
	s := onnxtest.LoadWith(t, onnxtest.Product(onnx.Float32).File(t), onnx.Options{})
	good := [][]int{{2, 3}, {1, 3}}
	for _, c := range []struct {
		inputs, outputs [][]int
		want            string
	}{
		{nil, nil, "got shapes of 0 inputs, and the network has 2"},
		{good, [][]int{{2, 3}, {2, 3}}, "got shapes of 2 outputs, and the network has 1"},
		{[][]int{{2, 4}, {1, 3}}, nil, "a float32 n×3 does not take the shape 2×4"},
		{[][]int{{6}, {1, 3}}, nil, "a float32 n×3 does not take the shape 6"},
		{[][]int{{0, 3}, {1, 3}}, nil, "a tensor of 0×3: each size must be at least 1, and their product at most 268435456"},
		{[][]int{{-7, 3}, {1, 3}}, nil, "a tensor of -7×3: each size must be at least 1, and their product at most 268435456"},
		{[][]int{{1 << 62, 3}, {1, 3}}, nil, "a tensor of 4611686018427387904×3: each size must be at least 1, and their product at most 268435456"},
	} {
		if _, err := s.Bind(t.Context(), c.inputs, c.outputs); err == nil || err.Error() != c.want {
			t.Errorf("%v: got %v, want %s", c.inputs, err, c.want)
		}
	}
	if err := bind(t, s, good, [][]int{{4, 3}}).Run(t.Context()); err == nil {
		t.Error("an output of another shape than the network's was filled")
	}
}

// TestRunEndsWithContext: a network that would run forever, and the binding is
// good for a next run.
func TestRunEndsWithContext(t *testing.T) {
	s := onnxtest.LoadWith(t, onnxtest.Product(onnx.Float32).Endless("a").File(t), onnx.Options{})
	b := bind(t, s, [][]int{{1, 3}, {1, 3}}, nil)
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		b.Input(0)[0] = 1
		if err := b.Run(ctx); err != context.DeadlineExceeded {
			t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
		}
		cancel()
		if err := b.Run(ctx); err != context.DeadlineExceeded {
			t.Errorf("begun after the end: got %v", err)
		}
		b.Input(0)[0] = 0
		if err := b.Run(t.Context()); err != nil {
			t.Errorf("after that: %v", err)
		}
	}
}

// TestEndlessRun runs a network that never ends. It fails after the longest time, and the binding works
// in a next run.
func TestEndlessRun(t *testing.T) {
	s := onnxtest.LoadWith(t, onnxtest.Product(onnx.Float32).Endless("a").File(t), onnx.Options{})
	b := bind(t, s, [][]int{{1, 3}, {1, 3}}, nil)
	s.SetLongest(20 * time.Millisecond)
	b.Input(0)[0] = 1
	if err := b.Run(t.Context()); err == nil || err.Error() != "the network did not end within 20ms" {
		t.Errorf("got %v", err)
	}
	s.SetLongest(time.Minute)
	b.Input(0)[0] = 0
	if err := b.Run(t.Context()); err != nil {
		t.Errorf("after that: %v", err)
	}
}

// TestBindEndsWithContext: to know the shape of its output, this network has to
// run, and would do so forever.
func TestBindEndsWithContext(t *testing.T) {
	g := onnxtest.Product(onnx.Float32)
	g.Initializers = []onnxtest.Tensor{{Name: "one", Shape: []int{1}, Floats: []float32{1}}}
	s := onnxtest.LoadWith(t, g.Endless("one").File(t), onnx.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := s.Bind(ctx, [][]int{{1, 3}, {1, 3}}, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
	}
}

// TestConcurrent runs several bindings of one network at once, and closes it meanwhile.
func TestConcurrent(t *testing.T) { concurrent(t, func(*onnx.Session) {}) }

// TestConcurrentOnThread does the same with a session that has a thread.
func TestConcurrentOnThread(t *testing.T) { concurrent(t, (*onnx.Session).OnThread) }

func concurrent(t *testing.T, change func(*onnx.Session)) {
	s := onnxtest.LoadWith(t, onnxtest.Product(onnx.Float32).File(t), onnx.Options{})
	change(s)
	var group sync.WaitGroup
	var runs atomic.Int32
	for i := range 4 {
		b := bind(t, s, [][]int{{64, 3}, {1, 3}}, [][]int{{64, 3}})
		x := float32(i)
		copy(b.Input(1), []float32{x, x, x})
		for j := range b.Input(0) {
			b.Input(0)[j] = float32(j)
		}
		group.Go(func() {
			err := b.Run(t.Context())
			for ; err == nil; err = b.Run(t.Context()) {
				if got := b.Output(0)[100]; got != 100*x {
					t.Errorf("got %v, want %v", got, 100*x)
				}
				if runs.Add(1) == 2000 {
					s.Close()
				}
			}
			if err.Error() != "the network is closed" {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := runs.Load(); n < 2000 {
		t.Errorf("got %d runs, want 2000", n)
	}
}

// TestRunAllocates bounds what a run allocates, whatever the size of its tensors: the call's
// lists in the wrapper, and the watch on the context.
func TestRunAllocates(t *testing.T) {
	s := onnxtest.LoadWith(t, onnxtest.Product(onnx.Float16).File(t), onnx.Options{})
	b := bind(t, s, [][]int{{100_000, 3}, {1, 3}}, [][]int{{100_000, 3}})
	result := testing.Benchmark(func(tb *testing.B) {
		for tb.Loop() {
			if err := b.Run(t.Context()); err != nil {
				tb.Fatal(err)
			}
		}
	})
	if bytes := result.AllocedBytesPerOp(); bytes > 1024 {
		t.Errorf("a run allocates %d bytes in %d pieces, want at most 1024", bytes, result.AllocsPerOp())
	}
}
