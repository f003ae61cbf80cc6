// Package batch lets many callers share the runs of one network. Their items go through it together, in batches.
package batch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"lipsync/internal/network/onnx"
)

// Network is a network whose inputs and outputs begin with the number of items: n×3×192×192, for example.
type Network struct {
	Name string // for the log: "wav2lip"
	Most int    // largest number of items in a run
	// Fixed tells that each run has exactly Most items, since the model says so. A run of fewer is filled up.
	Fixed bool
	// Padded tells that runs of fewer items are filled up to Most, so that the shapes of the inputs never change. A GPU plans
	// the network again for each change, which takes longer than many runs.
	Padded bool
	Runs   int // largest number of runs at once
	// Bind returns the memory of a run of a number of items.
	Bind func(ctx context.Context, items int) (Binding, error)
}

// Binding is the part of onnx.Binding that a Queue uses. Tests have networks in Go.
type Binding interface {
	Input(i int) []float32
	Output(i int) []float32
	Run(ctx context.Context) error
	Close() error
}

// whole tells whether each run has Most items.
func (n *Network) whole() bool { return n.Fixed || n.Padded }

// together returns the number of items of the next batch if a number of items wait. Unless runs are filled up, the number of
// items of a batch that is not full is a power of two, so that few bindings are needed.
func (n *Network) together(waiting int) int {
	if n.whole() || waiting >= n.Most {
		return min(waiting, n.Most)
	}
	items := 1
	for 2*items <= waiting {
		items *= 2
	}
	return items
}

// Item is one item: its part of each input, and memory for its part of each output, in the order of the model. Its caller may
// use it for one call of Do after the other.
type Item struct {
	Inputs, Outputs [][]float32
	done            chan error // gets the error of the run, or nil, once the outputs are filled
}

// NewItem returns an item with the memory of its inputs and outputs.
func NewItem(inputs, outputs [][]float32) *Item {
	return &Item{Inputs: inputs, Outputs: outputs, done: make(chan error, 1)}
}

// Queue makes batches of the items of all callers. It never waits for more items while the network has nothing to do: so an
// item waits for one run at most before its own begins, unless more items wait than fit into one.
type Queue struct {
	network Network
	log     *slog.Logger

	bindings *onnx.Pool[Binding] // by their number of items
	queue    chan *Item          // for the dispatcher
	batches  chan *batch         // from the dispatcher to the runners
	ran      chan *batch         // from the runners to finishAll
	failed   chan *batch         // batches that had too little memory, back to the dispatcher
	spare    chan *batch         // unused batches

	ctx     context.Context // of the dispatcher, the runners and finishAll
	cancel  context.CancelFunc
	working sync.WaitGroup // counts the dispatcher, the runners and finishAll
}

// errClosed is the error of calls that wait when the queue is closed.
var errClosed = errors.New("the network is closed")

// New returns the queue of a network, which must stay open until the queue is closed. New tries the network with as many runs at
// once as there will be, so that a fault shows now, and that a GPU plans it now. If there is too little memory, batches are made
// smaller, and a warning is logged.
func New(ctx context.Context, n Network, log *slog.Logger) (*Queue, error) {
	q := &Queue{
		network: n, log: log,
		bindings: onnx.NewPool(2*(n.Runs+1), n.Bind), // full batches, and some that are not
		queue:    make(chan *Item), batches: make(chan *batch),
		ran: make(chan *batch, n.Runs), failed: make(chan *batch), spare: make(chan *batch, 2*(n.Runs+1)),
	}
	q.ctx, q.cancel = context.WithCancel(context.Background())
	if err := q.try(ctx); err != nil {
		return nil, errors.Join(err, q.Close())
	}
	q.working.Go(q.dispatch)
	q.working.Go(q.finishAll)
	for range n.Runs {
		q.working.Go(q.run)
	}
	return q, nil
}

// Do runs the network on an item, and waits for it. If the context ends before that, the item still belongs to the queue and
// must not be used again.
func (q *Queue) Do(ctx context.Context, item *Item) error {
	select {
	case q.queue <- item:
	case <-ctx.Done():
		return ctx.Err()
	case <-q.ctx.Done():
		return errClosed
	}
	select {
	case err := <-item.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-q.ctx.Done():
		return errClosed
	}
}

// Together returns the number of calls of Do at once that keeps the network busy: enough for the batches that run, and for one
// that is loaded meanwhile.
func (q *Queue) Together() int { return (q.network.Runs + 1) * q.network.Most }

// Close ends all runs and waits.
func (q *Queue) Close() error {
	q.cancel()
	q.working.Wait()
	for len(q.ran) > 0 {
		q.release(<-q.ran)
	}
	return q.bindings.Close()
}

// warn logs that batches have fewer items from now on.
func (q *Queue) warn(items int, err error) {
	q.log.Warn(fmt.Sprintf("batches of %s are smaller from now on: one had too little memory", q.network.Name), "items", items, "error", err)
}
