package detection

import (
	"context"
	"errors"
	"sync"

	"lipsync/internal/onnx"
)

// network runs a session, each call in buffers of its own. Buffers are kept for
// later calls: there are as many as there ever were calls at a time.
type network struct {
	session *onnx.Session
	inputs  [][]int // shapes
	outputs [][]int // shapes
	mu      sync.Mutex
	idle    []*onnx.Binding
}

// newNetwork makes the first buffers, which tell the shapes of the outputs, and
// runs the network once: better now than in a job.
func newNetwork(ctx context.Context, s *onnx.Session, input ...int) (*network, error) {
	n := &network{session: s, inputs: [][]int{input}}
	b, err := n.take(ctx)
	if err != nil {
		return nil, err
	}
	if err := b.Run(ctx); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	n.give(b)
	for i := range s.Outputs() {
		n.outputs = append(n.outputs, b.OutputShape(i))
	}
	return n, nil
}

// run fills the input, runs the network and reads its outputs. It ends soon after
// ctx does, with its error.
func (n *network) run(ctx context.Context, fill func(input []float32), read func(b *onnx.Binding)) error {
	b, err := n.take(ctx)
	if err != nil {
		return err
	}
	defer n.give(b)
	fill(b.Input(0))
	if err := b.Run(ctx); err != nil {
		return err
	}
	read(b)
	return nil
}

func (n *network) take(ctx context.Context) (*onnx.Binding, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if last := len(n.idle) - 1; last >= 0 {
		b := n.idle[last]
		n.idle = n.idle[:last]
		return b, nil
	}
	return n.session.Bind(ctx, n.inputs, n.outputs)
}

func (n *network) give(b *onnx.Binding) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.idle = append(n.idle, b)
}

func (n *network) close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var errs []error
	for _, b := range n.idle {
		errs = append(errs, b.Close())
	}
	n.idle = nil
	return errors.Join(errs...)
}

// picture returns the size of the pictures that a network sees: planes of red,
// green and blue. It is 0 if that is not what it takes.
func picture(s *onnx.Session) (width, height int) {
	in := s.Inputs()
	if len(in) != 1 || len(in[0].Shape) != 4 || !in[0].Fits([]int{1, 3, in[0].Shape[2], in[0].Shape[3]}) {
		return 0, 0
	}
	return max(in[0].Shape[3], 0), max(in[0].Shape[2], 0)
}
