// Package wav2lip is the engine for those who bring a network of the Wav2Lip
// family (Prajwal, Mukhopadhyay, Namboodiri and Jawahar, "A Lip Sync Expert Is
// All You Need", ACM Multimedia 2020) as an ONNX model.
//
// The network sees a face with its lower half hidden, the same face as it is,
// and 0.2 s of sound, and paints the face that says it. export/export.py makes
// such a model from the published checkpoint, and export/verify.py compares the
// two.
package wav2lip

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"

	"lipsync/internal/onnx"
	"lipsync/internal/render"
)

// mostRuns bounds how many runs of the network the CPU computes at once. Each run
// takes memory of its own.
const mostRuns = 8

// cpuBatch returns how many faces go through the network together on the CPU, for
// faces of size × size pixels. More than 4 are no faster. The memory of a run grows
// with the area of a face, and is 0.4 GB for each face of 384 pixels: mostRuns of them
// must fit in the memory that package onnx allows all networks.
func cpuBatch(size int) int {
	const most, full = 4, 128 // pixels
	return min(most, max(1, most*full*full/max(1, size*size)))
}

// Threads returns the best onnx.Options.Threads for the network. The CPU is used better
// by many runs with few threads than by one run whose threads wait for each other.
func Threads() int { return (runtime.GOMAXPROCS(0) + mostRuns - 1) / mostRuns }

// runs returns how many runs of the network there are at once. One after the other
// keeps a GPU busy.
func runs(session *onnx.Session) int {
	if session.Provider() != onnx.CPU {
		return 1
	}
	return max(1, runtime.GOMAXPROCS(0)/session.Threads())
}

// Engine is a render.Engine. All jobs share one network: a batch can have faces
// of several of them.
type Engine struct {
	model model
	mask  []float32 // of each pixel of the crop, 0 to 1
	ring  []float32 // of each pixel of the crop: its weight in the match of colours
	log   *slog.Logger

	bindings *onnx.Pool[binding] // by how many faces they are for
	queue    chan *brush         // to the dispatcher
	batches  chan *batch         // from the dispatcher to the runners
	painted  chan *batch         // from the runners to finishAll
	failed   chan *batch         // because memory was short, to the dispatcher
	spare    chan *batch         // that can be used again
	free     chan *brush         // that can be used again

	ctx     context.Context // of the dispatcher, the runners and finishAll
	cancel  context.CancelFunc
	working sync.WaitGroup // the same
}

// errClosed is the error of calls that wait when the engine is closed.
var errClosed = errors.New("wav2lip: the engine is closed")

// New makes an engine of a loaded model, which must stay open until the engine is
// closed. Batches on a GPU are of 16 faces. New tries the model with as many runs at once
// as there will be in jobs. The log gets a warning when batches are made smaller because
// there is too little memory.
func New(ctx context.Context, session *onnx.Session, log *slog.Logger) (*Engine, error) {
	batch := 16
	if session.Provider() == onnx.CPU {
		batch = cpuBatch(session.InputSize())
	}
	return newEngine(ctx, session, batch, log)
}

// newEngine makes an engine with batches of a number of faces, unless the model fixes it.
// There are fewer runs at once if batches are large, which would otherwise run nearly
// empty.
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

// start makes an engine of a model, and tries it.
func start(ctx context.Context, m model, log *slog.Logger) (*Engine, error) {
	e := &Engine{
		model: m, log: log,
		bindings: onnx.NewPool(2*(m.runs+1), m.bound), // full batches, and some that are not
		queue:    make(chan *brush), batches: make(chan *batch),
		painted: make(chan *batch, m.runs), failed: make(chan *batch), spare: make(chan *batch, 2*(m.runs+1)),
	}
	e.mask, e.ring = newMask(m.size)
	e.ctx, e.cancel = context.WithCancel(context.Background())
	if err := e.try(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	e.free = make(chan *brush, e.Workers())
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

// Workers returns how many calls of Paint at once keep the network busy: enough for
// the batches that run, and for one that is loaded meanwhile.
func (e *Engine) Workers() int { return (e.model.runs + 1) * e.model.batch }

// Articulates implements render.Engine. The network hears the samples themselves.
func (e *Engine) Articulates() bool { return false }

// Analyse implements render.Engine.
func (e *Engine) Analyse(v render.Video) (render.Analyser, error) {
	return &analyser{engine: e, fps: v.FPS, tracks: map[int]*track{}}, nil
}
