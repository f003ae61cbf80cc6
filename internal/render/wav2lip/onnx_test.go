package wav2lip

import (
	"context"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"lipsync/internal/network/batch"
	"lipsync/internal/network/onnx"
	"lipsync/internal/render/neural"
	"lipsync/internal/test/facetest"
	"lipsync/internal/test/ffmpegtest"
	"lipsync/internal/test/neuraltest"
	"lipsync/internal/test/onnxtest"
)

// load makes a model whose output is its face as it is. Its numbers have a type, and its
// batches a size, -1 for any.
func load(t *testing.T, size, batch int, kind onnx.Type) *onnx.Session {
	t.Helper()
	return loadGraph(t, slice(kind, batch, size, []int{batch, 3, size, size}, 1))
}

// slice returns a network whose output has every step-th row of its face, as it is.
func slice(kind onnx.Type, batch, size int, output []int, step int64) onnxtest.Graph {
	ints := func(name string, values ...int64) onnxtest.Tensor {
		return onnxtest.Tensor{Name: name, Shape: []int{len(values)}, Ints: values}
	}
	return onnxtest.Graph{
		Inputs: []onnx.Info{
			{Name: "mel", Type: kind, Shape: []int{batch, 1, bands, columns}},
			{Name: "vid", Type: kind, Shape: []int{batch, 6, size, size}},
		},
		Outputs:      []onnx.Info{{Name: "gen", Type: kind, Shape: output}},
		Nodes:        []onnxtest.Node{{Op: "Slice", Inputs: []string{"vid", "from", "to", "axes", "steps"}, Outputs: []string{"gen"}}},
		Initializers: []onnxtest.Tensor{ints("from", 3, 0), ints("to", 6, int64(size)), ints("axes", 1, 2), ints("steps", 1, step)},
	}
}

func loadGraph(t testing.TB, g onnxtest.Graph) *onnx.Session {
	t.Helper()
	return onnxtest.LoadWith(t, g.File(t), onnx.Options{})
}

// TestONNX runs models of all supported kinds.
func TestONNX(t *testing.T) {
	for _, c := range []struct {
		name        string
		size, batch int
		kind        onnx.Type
	}{
		{"any batch", 96, -1, onnx.Float32}, {"any batch, fp16", 96, -1, onnx.Float16},
		{"batch of 1", 256, 1, onnx.Float32}, {"batch of 3, fp16", 384, 3, onnx.Float16},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := startONNX(t, load(t, c.size, c.batch, c.kind), 2)
			if got, want := e.Workers(), 2*map[int]int{-1: 2, 1: 1, 3: 3}[c.batch]; got != want {
				t.Errorf("%d workers, want %d", got, want)
			}
			a, drawn := neuraltest.Draw(t, e, 25, 320, 300, 3, func(int) facetest.Head { return neuraltest.Still(0) })
			p := neuraltest.Plan(t, a, 25, 3)
			for i, f := range drawn {
				m := neuraltest.Mouth(t, p, i, f)
				if got := neuraltest.PSNR(f, m); got < 45 {
					t.Errorf("frame %d: %.1f dB, want at least 45", i, got)
				}
				m.Release()
			}
		})
	}
}

// TestDefaultBatch checks that batches of large faces are smaller.
func TestDefaultBatch(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // the threads of a run
	const runs = 1
	for size, want := range map[int]int{96: 4, 384: 1} {
		e, err := New(t.Context(), load(t, size, -1, onnx.Float32), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if got := e.Workers(); got != (runs+1)*want {
			t.Errorf("%d pixels: %d workers, want %d batches of %d", size, got, runs+1, want)
		}
	}
}

// TestLargeBatchesRunSeldom checks that fewer large batches run at once than the machine has
// cores. Only a model that fixes the size of batches has large ones.
func TestLargeBatchesRunSeldom(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, c := range []struct{ size, batch, want int }{{96, -1, 8}, {96, 4, 8}, {96, 16, 2}, {96, 64, 1}, {384, 4, 2}} {
		runtime.GOMAXPROCS(1) // the threads of a run
		session := load(t, c.size, c.batch, onnx.Float32)
		runtime.GOMAXPROCS(8)
		e, err := New(t.Context(), session, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		faces := c.batch
		if faces < 0 {
			faces = cpuBatch(c.size)
		}
		if got := e.Workers()/faces - 1; got != c.want {
			t.Errorf("%d pixels, batch %d: got %d runs at once, want %d", c.size, c.batch, got, c.want)
		}
	}
}

// announced is a binding that signals each run.
type announced struct {
	batch.Binding
	runs chan<- struct{}
}

func (a announced) Run(ctx context.Context) error {
	a.runs <- struct{}{}
	return a.Binding.Run(ctx)
}

// TestJobEndsWithContext ends a job, and then the engine, while a network runs that would
// never end.
func TestJobEndsWithContext(t *testing.T) {
	session, runs := loadGraph(t, onnxtest.Endless()), make(chan struct{}, 100)
	m, err := newModel(session, 2)
	if err != nil {
		t.Fatal(err)
	}
	bind := m.Bind
	m.Bind = func(ctx context.Context, n int) (batch.Binding, error) {
		b, err := bind(ctx, n)
		return announced{b, runs}, err
	}
	e, err := neural.New(t.Context(), m, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	<-runs // it was tried, on black faces
	video := ffmpegtest.Make(t, "in.mp4", "-f", "lavfi", "-i", "color=gray:s=320x260:d=1:r=25")
	audio := ffmpegtest.Make(t, "in.wav", "-f", "lavfi", "-i", "sine=d=1")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- renderTo(ctx, t, e, video, audio, filepath.Join(t.TempDir(), "out.mp4")) }()
	<-runs
	cancel()
	if err := <-done; err != context.Canceled {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestOtherOutput tries a model whose output has another size than its input, which it
// doesn't state.
func TestOtherOutput(t *testing.T) {
	e, err := New(t.Context(), loadGraph(t, slice(onnx.Float32, -1, 96, []int{-1, -1, -1, -1}, 2)), slog.New(slog.DiscardHandler))
	if err == nil {
		e.Close()
	}
	if err == nil || !strings.HasPrefix(err.Error(), "wav2lip: the network can't be run: ") {
		t.Errorf("got %v", err)
	}
}
