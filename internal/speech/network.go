package speech

import (
	_ "embed"
	"encoding/binary"
	"math"

	"lipsync/internal/dsp"
)

// The network sees the features of nine hops, 20 ms apart.
const (
	inputs = bands + 1
	around = 8                  // hops to either side
	apart  = 2                  // hops
	taps   = 2*around/apart + 1 // hops that it sees
	hidden = 16
)

//go:embed opening.bin
var openingWeights []byte

// network is a perceptron with one layer of rectifiers. fit/fit.py writes its
// weights.
type network struct {
	first  [taps * inputs][hidden]float32
	biases [hidden]float32
	second [hidden]float32
	bias   float32
}

func newNetwork(weights []byte) *network {
	at := 0
	next := func() float32 {
		at += 4
		return math.Float32frombits(binary.LittleEndian.Uint32(weights[at-4:]))
	}
	n := &network{}
	for i := range n.first {
		for k := range n.first[i] {
			n.first[i][k] = next()
		}
	}
	for k := range n.biases {
		n.biases[k] = next()
	}
	for k := range n.second {
		n.second[k] = next()
	}
	n.bias = next()
	return n
}

// fitted reads the opening by the network.
func (s *Speech) fitted() []float32 {
	n := newNetwork(openingWeights)
	x := s.inputs()
	out := make([]float32, len(x))
	for i := range out {
		out[i] = min(max(n.at(x, i), 0), 1)
	}
	out = dsp.Gaussian(out, 1)
	const rest = .05 // what it says of silence
	for i, v := range out {
		out[i] = max(v-rest, 0)
	}
	return toUnit(out)
}

// at returns the network's output for hop i; beyond the ends they repeat. It
// computes four hidden units at a time, whose sums stay in registers.
func (n *network) at(x [][inputs]float32, i int) float32 {
	sum := n.bias
	for j := 0; j < hidden; j += 4 {
		h0, h1, h2, h3 := n.biases[j], n.biases[j+1], n.biases[j+2], n.biases[j+3]
		for c := range taps {
			row := &x[min(max(i-around+c*apart, 0), len(x)-1)]
			weights := n.first[c*inputs : (c+1)*inputs]
			for k, v := range row {
				w := (*[4]float32)(weights[k][j:])
				h0 += v * w[0]
				h1 += v * w[1]
				h2 += v * w[2]
				h3 += v * w[3]
			}
		}
		for k, h := range [4]float32{h0, h1, h2, h3} {
			sum += max(h, 0) * n.second[j+k]
		}
	}
	return sum
}

// inputs returns the features as the network was fitted to them: each band
// against its mean while someone speaks, and the level against the loudest.
func (s *Speech) inputs() [][inputs]float32 {
	loud := dsp.Quantile(s.Loudness(), .95)
	var mean [bands]float64
	count := 0
	for _, h := range s.hops {
		if h.level > loud-25 {
			count++
			for b, v := range h.mel {
				mean[b] += float64(v)
			}
		}
	}
	out := make([][inputs]float32, len(s.hops))
	for i, h := range s.hops {
		for b, v := range h.mel {
			out[i][b] = min(max(v-float32(mean[b]/float64(count)), -35), 15) / 10
		}
		out[i][bands] = min(max((h.level-loud)/30, -1.3), .1)
	}
	return out
}
