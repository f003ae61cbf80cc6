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
	"cmp"
	"context"
	"errors"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"lipsync/internal/onnx"
	"lipsync/internal/render"
)

// Options are how an Engine uses its network.
type Options struct {
	// Batch is how many faces go through the network together, at most; 0 is 4 on
	// the CPU, or fewer that are large, and else 16. A model of a fixed batch has its
	// own.
	Batch int
}

// mostRuns bounds how often the CPU runs the network at once: each run takes
// memory of its own.
const mostRuns = 8

// cpuBatch returns how many faces of so many pixels each way go through the network
// together on the CPU. More than 4 are no faster. The memory of a run grows with
// their area, and runs of 384 pixels take 0.4 GB a face: mostRuns of them must fit
// in what onnx leaves all networks.
func cpuBatch(size int) int {
	const most, full = 4, 128 // pixels
	return min(most, max(1, most*full*full/max(1, size*size)))
}

// Threads is what onnx.Options.Threads of the network best are. The CPU is busier
// with a run of its own on each core than with one whose parts wait for each other.
func Threads() int { return (runtime.GOMAXPROCS(0) + mostRuns - 1) / mostRuns }

// runs returns how often the network is to run at once: a GPU is kept busy by one
// batch after the other.
func runs(session *onnx.Session) int {
	if session.Provider() != onnx.CPU {
		return 1
	}
	return max(1, runtime.GOMAXPROCS(0)/session.Threads())
}

// Engine is a render.Engine. All jobs share one network, whose batches
// are filled with the faces of all of them.
type Engine struct {
	model   model
	filters *filterbank
	mask    []float32 // of each pixel of the crop, 0 to 1
	ring    []float32 // and how much it counts in the match of colours

	queue   chan *brush
	waiting []*brush      // from the queue: of the lane that has asks
	asks    chan struct{} // the token of the lane that gathers
	turn    chan struct{} // the tokens of the lanes that run the network
	free    chan *brush   // that were used

	ctx     context.Context // of the lanes
	cancel  context.CancelFunc
	lanes   []lane
	working sync.WaitGroup
}

// errClosed is what those get who wait when the engine is closed.
var errClosed = errors.New("wav2lip: the engine is closed")

// New makes an engine of a loaded model, which must stay open until the engine
// is closed. It runs the model once, or as often at once as jobs will: less often
// where its batches are large, which else would take turns nearly empty.
func New(ctx context.Context, session *onnx.Session, o Options) (*Engine, error) {
	if session.Provider() == onnx.CPU {
		o.Batch = cmp.Or(o.Batch, cpuBatch(onnx.InputSize(session)))
	}
	m, err := newModel(session.Inputs(), session.Outputs(), o.Batch)
	if err != nil {
		return nil, err
	}
	m.runs = min(runs(session), max(1, mostRuns*cpuBatch(m.size)/m.batch))
	m.bind = func(ctx context.Context, inputs, outputs [][]int) (binding, error) {
		return session.Bind(ctx, inputs, outputs)
	}
	return start(ctx, m)
}

// start makes an engine and its lanes.
func start(ctx context.Context, m model) (*Engine, error) {
	e := &Engine{
		model: m, filters: newFilterbank(), lanes: make([]lane, m.runs+1),
		queue: make(chan *brush), asks: make(chan struct{}, 1), turn: make(chan struct{}, m.runs),
	}
	e.free = make(chan *brush, e.Workers())
	e.mask, e.ring = newMask(m.size)
	e.ctx, e.cancel = context.WithCancel(context.Background())
	for i := range e.lanes {
		e.lanes[i] = lane{Engine: e, bindings: map[int]binding{}}
	}
	if err := e.try(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	for i := range e.lanes {
		e.working.Go(e.lanes[i].work)
	}
	return e, nil
}

// try runs the network as often at once as it ever will: what is wrong with it, or
// that the machine has too little memory for it, is better known now than in a job.
func (e *Engine) try(ctx context.Context) error {
	all, ctx := errgroup.WithContext(ctx)
	for i := range e.model.runs {
		all.Go(func() error { return e.lanes[i].try(ctx) })
	}
	return all.Wait()
}

// Close ends what runs and frees the engine's buffers.
func (e *Engine) Close() (err error) {
	e.cancel()
	e.working.Wait()
	for i := range e.lanes {
		err = errors.Join(err, e.lanes[i].close())
	}
	return err
}

// Workers returns how many calls of Paint at once keep the network busy: the
// batches that run, and one that is made ready meanwhile.
func (e *Engine) Workers() int { return len(e.lanes) * e.model.batch }

// Analyse implements render.Engine.
func (e *Engine) Analyse(v render.Video) (render.Analyser, error) {
	return &analyser{engine: e, fps: v.FPS, tracks: map[int]*track{}}, nil
}
