package detection

import (
	"context"
	"runtime"
	"sync"

	"lipsync/internal/network/conv"
)

// runner computes a network. Any number of calls can use it at once.
type runner interface {
	// run fills the input, runs the network and reads its outputs. If ctx ends, run ends soon after it, with its error.
	run(ctx context.Context, fill func(input []float32), read func(outputs [][]float32)) error
}

// builtIn is a network of the product.
type builtIn struct {
	network *conv.Network
	cores   int       // of a run
	free    sync.Pool // of *numbers
}

// numbers are the input and the outputs of a run.
type numbers struct {
	input   []float32
	outputs [][]float32
}

// awaited returns the number of cores of a run that somebody waits for. The other stages of a job need most of the cores.
func awaited() int { return min(max(1, runtime.GOMAXPROCS(0)/4), 4) }

func newBuiltIn(n *conv.Network, cores int) *builtIn {
	b := &builtIn{network: n, cores: cores}
	b.free.New = func() any {
		input, outputs := n.Sizes()
		v := &numbers{input: make([]float32, input)}
		for _, size := range outputs {
			v.outputs = append(v.outputs, make([]float32, size))
		}
		return v
	}
	return b
}

func (b *builtIn) run(ctx context.Context, fill func(input []float32), read func(outputs [][]float32)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	v := b.free.Get().(*numbers)
	defer b.free.Put(v)
	fill(v.input)
	b.network.Run(b.cores, v.input, v.outputs...)
	read(v.outputs)
	return nil
}
