// Package conv runs small convolution networks, without ONNX Runtime. It knows the layers of MediaPipe's networks of faces,
// which package eyes has, and multiplies by a Matrix for others. One run takes memory of its own, on one core 1.4 MB for the mesh of a face,
// 2.9 MB for the search.
package conv

import (
	"fmt"
	"math"
	"sync"

	"lipsync/internal/signal/parallel"
)

// Network is a network with its weights. Any number of goroutines can run it at once.
type Network struct {
	side    int // of the input, pixels
	layers  []layer
	outputs []output
	runs    sync.Pool // of *run that no goroutine uses
	newHand func() *hand
}

// layer computes a tensor in the memory of a run, in parts that don't depend on each other.
type layer interface {
	parts() int
	// compute computes one part. Another core may compute another at the same time.
	compute(r *run, h *hand, part int)
}

// output is a tensor that callers get, times a factor.
type output struct {
	*tensor
	by      float32
	sigmoid bool // of each number, after the factor
}

// run is the memory of one run.
type run struct {
	input   []float32 // the caller's
	tensors []float32 // all tensors, each at its place
	hands   []*hand   // of the cores that compute
}

// hand is the memory that a core needs for itself.
type hand struct {
	rows    []float32 // of the input, with a zero before and after each
	matrix  []float32 // what a layer multiplies, with a row for each pixel
	rest    []float32 // products of a block of which not all pixels count
	product product
	window  window
}

// Sizes returns how many numbers the input and each output of the network have.
func (n *Network) Sizes() (input int, outputs []int) {
	for _, o := range n.outputs {
		outputs = append(outputs, o.height*o.width*o.channels)
	}
	return colours * n.side * n.side, outputs
}

// Run computes the outputs for an input: the red, green and blue planes of a square picture. A number of cores compute, at least 1;
// the outputs don't depend on it. Run panics if the sizes aren't those of Sizes.
func (n *Network) Run(cores int, input []float32, outputs ...[]float32) {
	if len(input) != colours*n.side*n.side || len(outputs) != len(n.outputs) {
		panic(fmt.Sprintf("conv: got %d numbers and %d outputs, want %d and %d", len(input), len(outputs), colours*n.side*n.side, len(n.outputs)))
	}
	r := n.runs.Get().(*run)
	r.input = input
	for len(r.hands) < cores {
		r.hands = append(r.hands, n.newHand())
	}
	for _, l := range n.layers {
		if cores > 1 {
			parallel.Share(cores, l.parts(), func(core, part int) { l.compute(r, r.hands[core], part) })
			continue
		}
		for part := range l.parts() { // no function, so that nothing is allocated
			l.compute(r, r.hands[0], part)
		}
	}
	for i, o := range n.outputs {
		o.write(outputs[i], r)
	}
	r.input = nil
	n.runs.Put(r)
}

// write writes the output's numbers by row, column and channel.
func (o *output) write(numbers []float32, r *run) {
	if len(numbers) != o.height*o.width*o.channels {
		panic(fmt.Sprintf("conv: got an output of %d numbers, want %d", len(numbers), o.height*o.width*o.channels))
	}
	for y := range o.height {
		row := r.tensors[o.row(y):]
		for x := range o.width {
			copy(numbers[(y*o.width+x)*o.channels:][:o.channels], row[x*o.pitch():])
		}
	}
	for i, x := range numbers {
		x *= o.by
		if o.sigmoid {
			x = float32(1 / (1 + math.Exp(-float64(x))))
		}
		numbers[i] = x
	}
}
