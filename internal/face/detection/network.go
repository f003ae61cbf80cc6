package detection

import (
	"context"
	"errors"
	"runtime"

	"lipsync/internal/network/onnx"
)

// network is a network with one input of a fixed shape. Any number of calls can use it at once.
type network struct {
	bindings *onnx.Pool[*onnx.Binding]
	outputs  [][]int // shapes
}

// batch is the number of pictures in one run of a network.
const batch = 1

// newNetwork returns the network of a session. input is the shape of its input. newNetwork runs the network once, to
// learn the shapes of the outputs, and so that a fault shows now and not in a job.
func newNetwork(ctx context.Context, s *onnx.Session, input ...int) (*network, error) {
	n := &network{}
	n.bindings = onnx.NewPool(runtime.GOMAXPROCS(0), func(ctx context.Context, _ int) (*onnx.Binding, error) {
		return s.Bind(ctx, [][]int{input}, n.outputs)
	})
	err := n.run(ctx, func([]float32) {}, func(b *onnx.Binding) {
		for i := range s.Outputs() {
			n.outputs = append(n.outputs, b.OutputShape(i))
		}
	})
	if err != nil {
		return nil, errors.Join(err, n.close())
	}
	return n, nil
}

// run fills the input, runs the network and reads its outputs. If ctx ends, run ends soon after it, with its error.
func (n *network) run(ctx context.Context, fill func(input []float32), read func(b *onnx.Binding)) error {
	b, err := n.bindings.Get(ctx, batch)
	if err != nil {
		return err
	}
	defer n.bindings.Put(batch, b)
	fill(b.Input(0))
	if err := b.Run(ctx); err != nil {
		return err
	}
	read(b)
	return nil
}

func (n *network) close() error { return n.bindings.Close() }

// picture returns the size, in pixels, of the pictures that a network takes: planes of red, green and blue. It returns 0
// if the input has another shape.
func picture(s *onnx.Session) (width, height int) {
	in := s.Inputs()
	if len(in) != 1 || len(in[0].Shape) != 4 || !in[0].Fits([]int{1, 3, in[0].Shape[2], in[0].Shape[3]}) {
		return 0, 0
	}
	return max(in[0].Shape[3], 0), max(in[0].Shape[2], 0)
}
