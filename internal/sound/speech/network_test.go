package speech

import (
	_ "embed"
	"encoding/binary"
	"math"
	"slices"
	"testing"
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
	run(articulationNetworks(), hops, input, func(hop int, y *[outputs]float32) {
		count++
		for i, v := range y {
			if got, want := logistic(v), number(hops*inputs+hop*outputs+i); !(math.Abs(float64(got-want)) < 1e-3) {
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
		run(articulationNetworks(), n, input, func(_ int, y *[outputs]float32) { out = append(out, *y) })
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
	count := 0
	for _, l := range slices.Concat(articulationNetworks()...) {
		numbers := l.biases
		for _, tap := range l.taps {
			numbers = append(numbers[:len(numbers):len(numbers)], tap.Data...)
		}
		count += len(numbers)
		for _, v := range numbers {
			if !(math.Abs(float64(v)) < 100) {
				t.Errorf("a weight is %g", v)
			}
		}
	}
	if got, want := len(articulationWeights), 2*count; got != want {
		t.Errorf("got %d bytes, want %d", got, want)
	}
}

func TestHalf(t *testing.T) {
	for _, c := range []struct {
		bits uint16
		want float64
	}{
		{0x0000, 0}, {0x3c00, 1}, {0xbc00, -1}, {0x3e00, 1.5}, {0x7bff, 65504}, {0x0400, 0x1p-14}, {0x0001, 0x1p-24}, {0x83ff, -1023 * 0x1p-24},
	} {
		if got := float64(half(c.bits)); got != c.want {
			t.Errorf("%#04x: got %g, want %g", c.bits, got, c.want)
		}
	}
}
