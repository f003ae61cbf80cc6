package speech

import (
	_ "embed"
	"encoding/binary"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
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
	taps     []blas32.General // inputs by outputs
	biases   []float32
	dilation int // hops from one tap to the next
}

// newNetworks reads the networks from weights.
func newNetworks(weights []byte) (networks []network) {
	next := func(n int) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = half(binary.LittleEndian.Uint16(weights[2*i:]))
		}
		weights = weights[2*n:]
		return out
	}
	newLayer := func(taps, in, out, dilation int) layer {
		l := layer{dilation: dilation}
		for range taps {
			l.taps = append(l.taps, blas32.General{Rows: in, Cols: out, Stride: out, Data: next(in * out)})
		}
		l.biases = next(out)
		return l
	}
	for _, n := range channels {
		net := network{newLayer(5, inputs, n, 1)}
		for _, d := range dilations {
			net = append(net, newLayer(3, n, n, d))
		}
		networks = append(networks, append(net, newLayer(1, n, outputs, 1)))
	}
	return networks
}

// half returns the value of a finite half-precision float.
func half(bits uint16) float32 {
	sign, exponent, fraction := uint32(bits>>15), uint32(bits>>10&31), uint32(bits&1023)
	if exponent == 0 {
		v := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(v) | sign<<31)
	}
	return math.Float32frombits(sign<<31 | (exponent+127-15)<<23 | fraction<<13)
}

// apply fills y with the convolution of x. Both have one row for each hop. Beyond the first and the last
// row x is zero.
func (l *layer) apply(y, x blas32.General) {
	for i := range y.Rows {
		copy(y.Data[i*y.Stride:], l.biases)
	}
	for k, weights := range l.taps {
		shift := (k - len(l.taps)/2) * l.dilation // from a row of y to its row of x
		if n := y.Rows - max(shift, -shift); n > 0 {
			blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, rows(x, max(shift, 0), n), weights, 1, rows(y, max(-shift, 0), n))
		}
	}
}

// rows returns n rows of m.
func rows(m blas32.General, from, n int) blas32.General {
	return blas32.General{Rows: n, Cols: m.Cols, Stride: m.Stride, Data: m.Data[from*m.Stride : (from+n)*m.Stride]}
}

// run computes the mean of the networks' logits for n hops. It calls input
// to fill the inputs of each hop, and output with the outputs of each hop.
func run(networks []network, n int, input func(hop int, x *[inputs]float32), output func(hop int, y *[outputs]float32)) {
	most := min(n, piece+2*reach)
	x, mean := newMatrix(most, inputs), newMatrix(most, outputs)
	between := newBuffers(most)
	for start := 0; start < n; start += piece {
		end := min(start+piece, n)
		from, to := max(start-reach, 0), min(end+reach, n)
		x, mean := rows(x, 0, to-from), rows(mean, 0, to-from)
		for i := from; i < to; i++ {
			input(i, (*[inputs]float32)(x.Data[(i-from)*inputs:]))
		}
		clear(mean.Data)
		for _, net := range networks {
			for i, v := range net.logits(x, between).Data {
				mean.Data[i] += v / float32(len(networks))
			}
		}
		for i := start; i < end; i++ {
			output(i, (*[outputs]float32)(mean.Data[(i-from)*outputs:]))
		}
	}
}

// buffers holds what the layers of a network pass on, for any of them.
type buffers struct{ h, y, z []float32 }

func newBuffers(hops int) *buffers {
	widest := slices.Max(channels[:])
	return &buffers{make([]float32, hops*widest), make([]float32, hops*widest), make([]float32, hops*outputs)}
}

// logits returns the network's outputs for the hops of x, before the logistic function. They lie in b.
func (net network) logits(x blas32.General, b *buffers) blas32.General {
	width := len(net[0].biases)
	h, y, z := matrix(b.h, x.Rows, width), matrix(b.y, x.Rows, width), matrix(b.z, x.Rows, outputs)
	net[0].apply(h, x)
	for i, v := range h.Data {
		h.Data[i] = max(v, 0)
	}
	for _, l := range net[1 : len(net)-1] {
		l.apply(y, h)
		for i, v := range y.Data {
			h.Data[i] += max(v, 0)
		}
	}
	net[len(net)-1].apply(z, h)
	return z
}

func newMatrix(rows, columns int) blas32.General {
	return matrix(make([]float32, rows*columns), rows, columns)
}

// matrix returns a matrix whose numbers lie in data.
func matrix(data []float32, rows, columns int) blas32.General {
	return blas32.General{Rows: rows, Cols: columns, Stride: columns, Data: data[:rows*columns]}
}
