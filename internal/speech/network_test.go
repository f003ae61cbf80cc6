package speech

import (
	"encoding/binary"
	"math"
	"testing"
)

// TestWeights checks that the file holds what the network reads, no more and no
// less, and nothing but plain numbers.
func TestWeights(t *testing.T) {
	if got, want := len(openingWeights), 4*(taps*inputs*hidden+hidden+hidden+1); got != want {
		t.Fatalf("got %d bytes, want %d", got, want)
	}
	for at := 0; at < len(openingWeights); at += 4 {
		v := float64(math.Float32frombits(binary.LittleEndian.Uint32(openingWeights[at:])))
		if math.IsNaN(v) || math.Abs(v) > 100 {
			t.Errorf("number %d is %g", at/4, v)
		}
	}
	n := newNetwork(openingWeights)
	last := math.Float32frombits(binary.LittleEndian.Uint32(openingWeights[len(openingWeights)-4:]))
	if n.bias != last {
		t.Errorf("the last number read is %g, want %g", n.bias, last)
	}
}

// TestNetwork checks one by hand: that the hop at the place of a weight counts,
// and that a unit below zero doesn't.
func TestNetwork(t *testing.T) {
	n := &network{bias: .25}
	n.first[(around/apart)*inputs+3][0] = 2 // the hop itself
	n.first[0*inputs+3][1] = -1             // 8 hops before
	n.biases[1] = 5
	n.second = [hidden]float32{1, 10}
	x := make([][inputs]float32, 30)
	for i := range x {
		x[i][3] = float32(i)
	}
	for _, c := range []struct {
		i    int
		want float32
	}{
		{0, 0 + 10*5 + .25}, // before the start: the first hop again
		{10, 20 + 10*(5-2) + .25},
		{13, 26 + .25}, // 5 - 5
		{29, 58 + .25},
	} {
		if got := n.at(x, c.i); got != c.want {
			t.Errorf("hop %d: got %g, want %g", c.i, got, c.want)
		}
	}
}
