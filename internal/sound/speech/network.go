package speech

import (
	_ "embed"
	"encoding/binary"
	"math"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// The network is a convolution over five hops; then residual convolutions, each over three hops that
// are one of dilations apart; then one over a single hop for the outputs. Rectifiers follow all except
// the last.
const (
	inputs   = bands + 1
	channels = 80
	outputs  = 6
	reach    = 2 + 1 + 2 + 4 + 8 + 2 + 1 // hops to either side that an output depends on: 200 ms
	piece    = 512                       // hops that are computed at a time, so that memory is bounded
)

var dilations = [...]int{1, 2, 4, 8, 2, 1}

// articulationWeights holds half-precision floats, little-endian: for each layer its weights, by tap,
// input and output, and then its biases. training/train.py writes them.
//
//go:embed articulation.bin
var articulationWeights []byte

var articulationNetwork = sync.OnceValue(func() []layer { return newNetwork(articulationWeights) })

// layer is a convolution along time.
type layer struct {
	taps     []blas32.General // inputs by outputs
	biases   []float32
	dilation int // hops from one tap to the next
}

// newNetwork reads the layers from weights.
func newNetwork(weights []byte) []layer {
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
	layers := []layer{newLayer(5, inputs, channels, 1)}
	for _, d := range dilations {
		layers = append(layers, newLayer(3, channels, channels, d))
	}
	return append(layers, newLayer(1, channels, outputs, 1))
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

// run computes the outputs of n hops, before the logistic function. It calls input to fill the inputs of
// each hop, and output with the outputs of each hop.
func run(layers []layer, n int, input func(hop int, x *[inputs]float32), output func(hop int, y *[outputs]float32)) {
	most := min(n, piece+2*reach)
	x, h, y := newMatrix(most, inputs), newMatrix(most, channels), newMatrix(most, channels)
	z := newMatrix(most, outputs)
	for start := 0; start < n; start += piece {
		end := min(start+piece, n)
		from, to := max(start-reach, 0), min(end+reach, n)
		x, h, y, z := rows(x, 0, to-from), rows(h, 0, to-from), rows(y, 0, to-from), rows(z, 0, to-from)
		for i := from; i < to; i++ {
			input(i, (*[inputs]float32)(x.Data[(i-from)*inputs:]))
		}
		layers[0].apply(h, x)
		for i, v := range h.Data {
			h.Data[i] = max(v, 0)
		}
		for _, l := range layers[1 : len(layers)-1] {
			l.apply(y, h)
			for i, v := range y.Data {
				h.Data[i] += max(v, 0)
			}
		}
		layers[len(layers)-1].apply(z, h)
		for i := start; i < end; i++ {
			output(i, (*[outputs]float32)(z.Data[(i-from)*outputs:]))
		}
	}
}

func newMatrix(rows, columns int) blas32.General {
	return blas32.General{Rows: rows, Cols: columns, Stride: columns, Data: make([]float32, rows*columns)}
}
