package detection

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"lipsync/internal/network/batch"
	"lipsync/internal/network/onnx"
)

// network is a network with one input: a picture of a fixed size. Any number of calls can use it at once.
type network struct {
	queue   *batch.Queue
	input   int              // numbers of a picture
	outputs [][]int          // shapes, of one picture
	free    chan *batch.Item // unused items
}

// onGPU is the number of pictures in one run on a GPU. On an H200 a run of 4 faces takes 1.2 ms, one of 16 takes 2.4 ms, and one of a
// single face 1.1 ms. Jobs bring few faces in the time of a run. On a CPU a run has one picture: more are no faster.
const onGPU = 8

// newNetwork returns the network of a session. most is the number of pictures in a run, and picture is the shape of one. newNetwork
// runs the network, to learn the shapes of the outputs, and so that a fault shows now and not in a job.
func newNetwork(ctx context.Context, log *slog.Logger, s *onnx.Session, most int, picture ...int) (*network, error) {
	n := &network{input: elements(picture)}
	if err := n.learn(ctx, s, most, picture); err != nil {
		return nil, err
	}
	queue, err := batch.New(ctx, batch.Network{
		Name: "the networks of faces", Most: most, Padded: true, Runs: batch.Runs(s),
		Bind: func(ctx context.Context, items int) (batch.Binding, error) {
			var outputs [][]int
			for _, shape := range n.outputs {
				outputs = append(outputs, many(shape, items))
			}
			return s.Bind(ctx, [][]int{many(picture, items)}, outputs)
		},
	}, log)
	if err != nil {
		return nil, err
	}
	n.queue, n.free = queue, make(chan *batch.Item, queue.Together())
	return n, nil
}

// learn runs the network on a number of pictures, and sets the shapes of the outputs of one.
func (n *network) learn(ctx context.Context, s *onnx.Session, items int, picture []int) error {
	b, err := s.Bind(ctx, [][]int{many(picture, items)}, nil)
	if err != nil {
		return err
	}
	for i, out := range s.Outputs() {
		shape := slices.Clone(b.OutputShape(i))
		if items > 1 {
			if len(shape) == 0 || shape[0] != items {
				return errors.Join(fmt.Errorf("the model's output %s has no part for each picture", out), b.Close())
			}
			shape[0] = 1
		}
		n.outputs = append(n.outputs, shape)
	}
	return b.Close()
}

// many returns the shape of a tensor that holds a number of items, by the shape of one item.
func many(one []int, items int) []int {
	if items == 1 {
		return one
	}
	return append([]int{items * one[0]}, one[1:]...)
}

func elements(shape []int) int {
	n := 1
	for _, size := range shape {
		n *= size
	}
	return n
}

// run fills the input, runs the network and reads its outputs. If ctx ends, run ends soon after it, with its error.
func (n *network) run(ctx context.Context, fill func(input []float32), read func(outputs [][]float32)) error {
	item := n.item()
	fill(item.Inputs[0])
	if err := n.queue.Do(ctx, item); err != nil {
		return err // the item may still be in the queue
	}
	read(item.Outputs)
	select {
	case n.free <- item:
	default: // there are enough
	}
	return nil
}

// item returns an item that was used before, or a new one if none is free.
func (n *network) item() *batch.Item {
	select {
	case item := <-n.free:
		return item
	default:
	}
	var outputs [][]float32
	for _, shape := range n.outputs {
		outputs = append(outputs, make([]float32, elements(shape)))
	}
	return batch.NewItem([][]float32{make([]float32, n.input)}, outputs)
}

func (n *network) close() error { return n.queue.Close() }

// picture returns the size, in pixels, of the pictures that a network takes: planes of red, green and blue. It returns 0
// if the input has another shape.
func picture(s *onnx.Session) (width, height int) {
	in := s.Inputs()
	if len(in) != 1 || len(in[0].Shape) != 4 || !in[0].Fits([]int{1, 3, in[0].Shape[2], in[0].Shape[3]}) {
		return 0, 0
	}
	return max(in[0].Shape[3], 0), max(in[0].Shape[2], 0)
}
