// Package wav2lip is the engine for networks of the Wav2Lip family (Prajwal, Mukhopadhyay, Namboodiri and Jawahar, "A Lip Sync
// Expert Is All You Need", ACM Multimedia 2020), as ONNX models.
//
// The network's inputs are a face with its lower half hidden, the same face as it is, and 0.2 s of sound. Its output is the
// face as it says that sound. export/export.py makes such a model from the published checkpoint, and export/verify.py compares
// the two.
package wav2lip

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"

	"lipsync/internal/domain/order"
	"lipsync/internal/network/onnx"
	"lipsync/internal/render"
)

// mostRuns bounds the number of runs of the network that the CPU computes at once. Each run
// takes memory of its own.
const mostRuns = 8

// These constants define the number of faces in a batch.
const (
	mostOnCPU = 4   // largest number on a CPU: more are no faster
	fullSize  = 128 // size of a face, pixels: on a CPU, batches of larger faces have fewer of them
	onGPU     = 16
)

// cpuBatch returns the number of faces in a batch on the CPU, for faces of size × size pixels. The memory of a run grows with
// the area of a face, and is 0.4 GB for each face of 384 pixels. mostRuns runs together must fit in the memory that package onnx
// allows all networks.
func cpuBatch(size int) int {
	return min(mostOnCPU, max(1, mostOnCPU*fullSize*fullSize/max(1, size*size)))
}

// Threads returns the best onnx.Options.Threads for the network. The CPU is used better
// by many runs with few threads than by one run whose threads wait for each other.
func Threads() int { return (runtime.GOMAXPROCS(0) + mostRuns - 1) / mostRuns }

// runs returns the number of runs of the network at once. On a GPU one run at a time is enough to keep it busy.
func runs(session *onnx.Session) int {
	if session.Provider() != onnx.CPU {
		return 1
	}
	return max(1, runtime.GOMAXPROCS(0)/session.Threads())
}

// Engine is a render.Engine. All jobs share one network: a batch can have faces of several jobs.
type Engine struct {
	model model
	mask  *mask // at its usual size
	log   *slog.Logger

	bindings *onnx.Pool[binding] // by their number of faces
	queue    chan *buffers       // faces for the dispatcher
	batches  chan *batch         // from the dispatcher to the runners
	painted  chan *batch         // from the runners to finishAll
	failed   chan *batch         // batches that had too little memory, back to the dispatcher
	spare    chan *batch         // unused batches
	free     chan *buffers       // unused buffers

	ctx     context.Context // of the dispatcher, the runners and finishAll
	cancel  context.CancelFunc
	working sync.WaitGroup // counts the dispatcher, the runners and finishAll
}

// errClosed is the error of calls that wait when the engine is closed.
var errClosed = errors.New("wav2lip: the engine is closed")

// New returns an engine with the model of a session, which must stay open until the engine is closed. New tries the model with as
// many runs at once as in jobs. If there is too little memory, batches are made smaller, and a warning is logged.
func New(ctx context.Context, session *onnx.Session, log *slog.Logger) (*Engine, error) {
	batch := onGPU
	if session.Provider() == onnx.CPU {
		batch = cpuBatch(session.InputSize())
	}
	return newEngine(ctx, session, batch, log)
}

// newEngine returns an engine. batch is the number of faces of its batches, unless the model fixes another. If batches are large,
// there are fewer runs at once, since otherwise batches would be nearly empty.
func newEngine(ctx context.Context, session *onnx.Session, batch int, log *slog.Logger) (*Engine, error) {
	m, err := newModel(session.Inputs(), session.Outputs(), batch)
	if err != nil {
		return nil, err
	}
	m.runs = min(runs(session), max(1, mostRuns*cpuBatch(m.size)/m.batch))
	m.bind = func(ctx context.Context, inputs, outputs [][]int) (binding, error) {
		return session.Bind(ctx, inputs, outputs)
	}
	return start(ctx, m, log)
}

// start returns an engine with a model, after it has tried the model.
func start(ctx context.Context, m model, log *slog.Logger) (*Engine, error) {
	e := &Engine{
		model: m, log: log,
		bindings: onnx.NewPool(2*(m.runs+1), m.bound), // full batches, and some that are not
		queue:    make(chan *buffers), batches: make(chan *batch),
		painted: make(chan *batch, m.runs), failed: make(chan *batch), spare: make(chan *batch, 2*(m.runs+1)),
	}
	e.mask = newMask(m.size, order.Mask{})
	e.ctx, e.cancel = context.WithCancel(context.Background())
	if err := e.try(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	e.free = make(chan *buffers, e.Workers())
	e.working.Go(e.dispatch)
	e.working.Go(e.finishAll)
	for range m.runs {
		e.working.Go(e.run)
	}
	return e, nil
}

// Close ends all runs and waits, and frees the engine's buffers.
func (e *Engine) Close() error {
	e.cancel()
	e.working.Wait()
	for len(e.painted) > 0 {
		e.release(<-e.painted)
	}
	return e.bindings.Close()
}

// Workers returns the number of calls of Paint at once that keeps the network busy: enough for the batches that run, and for one
// that is loaded meanwhile.
func (e *Engine) Workers() int { return (e.model.runs + 1) * e.model.batch }

// Articulates implements render.Engine. It returns false, since the network gets the samples themselves.
func (e *Engine) Articulates() bool { return false }

var _ render.Engine = (*Engine)(nil)

func (e *Engine) Analyse(v render.Video) (render.Analyser, error) {
	return &analyser{engine: e, fps: v.FPS, tracks: map[int]*track{}}, nil
}
