package speech

import (
	_ "embed"
	"math"
	"slices"
	"sync"

	"lipsync/internal/network/conv"
	"lipsync/internal/network/half"
)

// A network is a convolution over five hops; then residual convolutions, each over three hops that
// are one of dilations apart; then one over a single hop for the outputs and the phones. Rectifiers follow all except
// the last.
const (
	inputs  = bands + 1
	outputs = 6
	phones  = 60                            // that a network tells apart
	reach   = 2 + 1 + 2 + 4 + 8 + 4 + 2 + 1 // hops to either side that an output depends on: 240 ms
	piece   = 512                           // hops that are computed at a time, so that memory is bounded
)

var dilations = [...]int{1, 2, 4, 8, 4, 2, 1}

// channels gives the channels of each network. Networks err differently: their mean takes fewer n for an m.
var channels = [...]int{112, 80, 112}

// articulationWeights holds half-precision floats, little-endian: the outputs that each phone asks for; then for each layer of each network its
// weights, by tap, input and output, and its biases. training/train.py writes them.
//
//go:embed articulation.bin
var articulationWeights []byte

// networks tell the articulation together.
type networks struct {
	asked [phones][outputs]float32 // by each phone
	all   []network
}

// A network is its layers, the one that gets the inputs first.
type network []layer

var articulationNetworks = sync.OnceValue(func() *networks { return newNetworks(articulationWeights) })

// layer is a convolution along time.
type layer struct {
	*conv.Matrix       // of the numbers of all taps, side by side
	taps, channels int // of the input
	dilation       int // hops from one tap to the next
}

// newNetworks reads the networks from weights.
func newNetworks(weights []byte) *networks {
	n := &networks{}
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
	for i := range n.asked {
		n.asked[i] = [outputs]float32(next(outputs))
	}
	for _, size := range channels {
		net := network{newLayer(5, inputs, size, 1, 0)}
		for _, d := range dilations {
			net = append(net, newLayer(3, size, size, d, 0))
		}
		n.all = append(n.all, append(net, newLayer(1, size, outputs+phones, 1, 1)))
	}
	return n
}

// apply returns the convolution of x, which has one row for each hop. Beyond the first and the last row x is zero. The result lies in to, and
// block is overwritten.
func (l *layer) apply(x rows, to, block []float32) rows {
	in, out := l.Pitches()
	clear(block) // what is left between its rows must be finite
	for i := 0; i < x.n; i += conv.Block {
		for k := range conv.Block * l.taps {
			tap := block[k/l.taps*in+k%l.taps*l.channels:][:l.channels]
			if row := i + k/l.taps + (k%l.taps-l.taps/2)*l.dilation; row >= 0 && row < x.n {
				copy(tap, x.row(row))
			} else {
				clear(tap)
			}
		}
		l.Multiply(to[i*out:], block)
	}
	return rows{to, x.n, out}
}

// rows holds n rows of numbers.
type rows struct {
	numbers  []float32
	n, pitch int
}

func (r rows) row(i int) []float32 { return r.numbers[i*r.pitch:][:r.pitch] }

// run computes the outputs for n hops. It calls input to fill the inputs of each hop, and output with the outputs of each hop, from 0 to 1.
func (s *networks) run(n int, input func(hop int, x *[inputs]float32), output func(hop int, y *[outputs]float32)) {
	most := min(n, piece+2*reach)
	x, mean, between := make([]float32, most*inputs), make([][outputs + phones]float32, most), s.newBuffers(most)
	for start := 0; start < n; start += piece {
		end := min(start+piece, n)
		from, to := max(start-reach, 0), min(end+reach, n)
		x, mean := rows{x, to - from, inputs}, mean[:to-from]
		for i := range x.n {
			input(from+i, (*[inputs]float32)(x.row(i)))
		}
		clear(mean)
		for _, net := range s.all {
			logits := net.logits(x, between)
			for i := range mean {
				for k, v := range logits.row(i)[:len(mean[i])] {
					mean[i][k] += v / float32(len(s.all))
				}
			}
		}
		for i := start; i < end; i++ {
			y := s.mix(&mean[i-from])
			output(i, &y)
		}
	}
}

// unsure is the smallest output that phones ask for; the largest is 1 − unsure.
const unsure = 1e-3

// mix returns the outputs of one hop from the mean of the networks' logits. The logit of each output is the mean of the one that the networks say
// and of the one that the phones ask for, weighted by their probabilities. Without the phones there are more false closures.
func (s *networks) mix(logits *[outputs + phones]float32) (y [outputs]float32) {
	said, named := logits[:outputs], logits[outputs:]
	most := slices.Max(named)
	var asked [outputs]float64
	var sum float64
	for i, v := range named {
		p := math.Exp(float64(v - most))
		sum += p
		for k, a := range s.asked[i] {
			asked[k] += p * float64(a)
		}
	}
	for k := range y {
		p := min(max(asked[k]/sum, unsure), 1-unsure)
		y[k] = logistic((said[k] + float32(math.Log(p/(1-p)))) / 2)
	}
	return y
}

// buffers holds what the layers of a network pass on, for any of them.
type buffers struct{ h, y, block []float32 }

func (s *networks) newBuffers(hops int) buffers {
	var widest, tapped int // largest pitches
	for _, net := range s.all {
		for _, l := range net {
			in, out := l.Pitches()
			widest, tapped = max(widest, out), max(tapped, in)
		}
	}
	size := (hops + conv.Block) * widest // the last block may not be full
	return buffers{make([]float32, size), make([]float32, size), make([]float32, conv.Block*tapped)}
}

// logits returns the network's logits of the outputs and of the phones for the hops of x. They lie in b.
func (net network) logits(x rows, b buffers) rows {
	last := len(net) - 1
	h := net[0].apply(x, b.h, b.block)
	for _, l := range net[1:last] {
		for i, v := range l.apply(h, b.y, b.block).numbers[:h.n*h.pitch] {
			h.numbers[i] += v
		}
	}
	return net[last].apply(h, b.y, b.block)
}
