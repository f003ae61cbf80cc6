package speech

import (
	_ "embed"
	"slices"
	"sync"

	"lipsync/internal/network/conv"
	"lipsync/internal/network/half"
)

// A network is a convolution over five hops; then residual convolutions, each over three hops that
// are one of dilations apart; then one over a single hop for the outputs. Rectifiers follow all except
// the last.
const (
	inputs  = bands + 1
	outputs = 6
	reach   = 2 + 1 + 2 + 4 + 8 + 4 + 2 + 1 // hops to either side that an output depends on: 240 ms
	piece   = 512                           // hops that are computed at a time, so that memory is bounded
)

var dilations = [...]int{1, 2, 4, 8, 4, 2, 1}

// channels gives the channels of each network. Two networks err differently: their mean takes fewer n for
// an m.
var channels = [...]int{112, 80}

// articulationWeights holds half-precision floats, little-endian: for each layer of each network its
// weights, by tap, input and output, and then its biases. training/train.py writes them.
//
//go:embed articulation.bin
var articulationWeights []byte

// A network is its layers, the one that gets the inputs first.
type network []layer

var articulationNetworks = sync.OnceValue(func() []network { return newNetworks(articulationWeights) })

// layer is a convolution along time.
type layer struct {
	*conv.Matrix       // of the numbers of all taps, side by side
	taps, channels int // of the input
	dilation       int // hops from one tap to the next
}

// newNetworks reads the networks from weights.
func newNetworks(weights []byte) (networks []network) {
	next := func(n int) []float32 {
		out := make([]float32, n)
		half.Decode(out, weights[:2*n])
		weights = weights[2*n:]
		return out
	}
	newLayer := func(taps, in, out, dilation int, slope float32) layer {
		m := conv.NewMatrix(next(taps*in*out), next(out), slope)
		return layer{m, taps, in, dilation}
	}
	for _, n := range channels {
		net := network{newLayer(5, inputs, n, 1, 0)}
		for _, d := range dilations {
			net = append(net, newLayer(3, n, n, d, 0))
		}
		networks = append(networks, append(net, newLayer(1, n, outputs, 1, 1)))
	}
	return networks
}

// apply returns the convolution of x, which has one row for each of some hops. Beyond the first and the last row x is zero. The result lies in to.
func (l *layer) apply(x rows, to, taps []float32) rows {
	in, out := l.Pitches()
	for i := 0; i < x.n; i += conv.Block {
		for k := range conv.Block * l.taps {
			tap := taps[k/l.taps*in+k%l.taps*l.channels:][:l.channels]
			if row := i + k/l.taps + (k%l.taps-l.taps/2)*l.dilation; row >= 0 && row < x.n {
				copy(tap, x.row(row))
			} else {
				clear(tap)
			}
		}
		l.Multiply(to[i*out:], taps)
	}
	return rows{to, x.n, out}
}

// rows holds n rows of numbers.
type rows struct {
	numbers  []float32
	n, pitch int
}

func (r rows) row(i int) []float32 { return r.numbers[i*r.pitch:][:r.pitch] }

// run computes the mean of the networks' logits for n hops. It calls input
// to fill the inputs of each hop, and output with the outputs of each hop.
func run(networks []network, n int, input func(hop int, x *[inputs]float32), output func(hop int, y *[outputs]float32)) {
	most := min(n, piece+2*reach)
	x, mean, between := make([]float32, most*inputs), make([][outputs]float32, most), newBuffers(most)
	for start := 0; start < n; start += piece {
		end := min(start+piece, n)
		from, to := max(start-reach, 0), min(end+reach, n)
		x, mean := rows{x, to - from, inputs}, mean[:to-from]
		for i := range x.n {
			input(from+i, (*[inputs]float32)(x.row(i)))
		}
		clear(mean)
		for _, net := range networks {
			logits := net.logits(x, between)
			for i := range mean {
				for k, v := range logits.row(i)[:outputs] {
					mean[i][k] += v / float32(len(networks))
				}
			}
		}
		for i := start; i < end; i++ {
			output(i, &mean[i-from])
		}
	}
}

// buffers holds what the layers of a network pass on, for any of them.
type buffers struct{ h, y, taps []float32 }

func newBuffers(hops int) buffers {
	widest := slices.Max(channels[:])
	size := (hops + conv.Block) * widest // the last block may not be full
	return buffers{make([]float32, size), make([]float32, size), make([]float32, conv.Block*5*max(inputs, widest))}
}

// logits returns the network's outputs for the hops of x, before the logistic function. They lie in b.
func (net network) logits(x rows, b buffers) rows {
	last := len(net) - 1
	h := net[0].apply(x, b.h, b.taps)
	for _, l := range net[1:last] {
		for i, v := range l.apply(h, b.y, b.taps).numbers[:h.n*h.pitch] {
			h.numbers[i] += v
		}
	}
	return net[last].apply(h, b.y, b.taps)
}
