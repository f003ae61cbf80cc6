package speech

import (
	_ "embed"
	"encoding/binary"
	"math"
	"testing"

	"lipsync/internal/network/half"
)

// golden holds 96 hops of inputs, drawn at random, and the outputs that training
// computes of them, as little-endian float32. training/train.py writes it.
//
//go:embed testdata/network.bin
var golden []byte

// TestGolden checks that inference here equals that of training.
func TestGolden(t *testing.T) {
	const hops = 96
	if got, want := len(golden), 4*hops*(inputs+outputs); got != want {
		t.Fatalf("got %d bytes, want %d", got, want)
	}
	number := func(i int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(golden[4*i:])) }
	input := func(hop int, x *[inputs]float32) {
		for i := range x {
			x[i] = number(hop*inputs + i)
		}
	}
	count := 0
	articulationNetworks().run(hops, input, func(hop int, y *[outputs]float32) {
		count++
		for i, v := range y {
			if got, want := v, number(hops*inputs+hop*outputs+i); !(math.Abs(float64(got-want)) < 1e-3) {
				t.Errorf("hop %d, output %d: got %.4f, want %.4f", hop, i, got, want)
			}
		}
	})
	if count != hops {
		t.Errorf("got %d hops, want %d", count, hops)
	}
}

// TestNetworkInPieces checks that a hop's outputs are the same wherever the
// pieces begin.
func TestNetworkInPieces(t *testing.T) {
	value := func(hop, i int) float32 { return float32(math.Sin(float64(hop*inputs + i*i))) }
	const n, later = 2*piece + 100, 300
	outcome := func(n, from int) (out [][outputs]float32) {
		input := func(hop int, x *[inputs]float32) {
			for i := range x {
				x[i] = value(hop+from, i)
			}
		}
		articulationNetworks().run(n, input, func(_ int, y *[outputs]float32) { out = append(out, *y) })
		return out
	}
	a, b := outcome(n, 0), outcome(n-later, later)
	for i := reach; i < len(b); i++ {
		for k, got := range b[i] {
			if want := a[i+later][k]; !(math.Abs(float64(got-want)) < 1e-4) {
				t.Fatalf("hop %d, output %d: got %g, want %g", i+later, k, got, want)
			}
		}
	}
}

// TestWeights checks that the file holds what the networks read, no more and no
// less, and only small numbers.
func TestWeights(t *testing.T) {
	numbers := make([]float32, len(articulationWeights)/2)
	half.Decode(numbers, articulationWeights)
	for _, v := range numbers {
		if !(math.Abs(float64(v)) < 100) {
			t.Errorf("a weight is %g", v)
		}
	}
	newNetworks(articulationWeights)
	defer func() {
		if recover() == nil {
			t.Error("the networks don't read the last weight")
		}
	}()
	newNetworks(articulationWeights[:len(articulationWeights)-2])
}
