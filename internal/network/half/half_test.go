package half

import (
	"math"
	"slices"
	"testing"
)

// TestHalf converts all halves to float32 and back. Each must come back. A number between
// two neighbours must become the nearer one, and in the middle the even one.
func TestHalf(t *testing.T) {
	for h := range uint16(0x7c00) {
		x := decode(h)
		next := decode(h + 1)
		if h == 0x7bff {
			next = 65536 // infinity takes the place of the next number
		}
		middle := (x + next) / 2
		even := h + h&1
		for _, c := range []struct {
			x    float32
			want uint16
		}{
			{x, h},
			{math.Nextafter32(middle, 0), h},
			{middle, even},
			{math.Nextafter32(middle, 1e9), h + 1},
		} {
			if got := encode(c.x); got != c.want {
				t.Fatalf("%v: got %#04x, want %#04x", c.x, got, c.want)
			}
			if got := encode(-c.x); got != c.want|0x8000 {
				t.Fatalf("%v: got %#04x, want %#04x", -c.x, got, c.want|0x8000)
			}
		}
	}
}

func TestHalfKnown(t *testing.T) {
	inf := float32(math.Inf(1))
	for h, want := range map[uint16]float32{
		0x0001: 0x1p-24, 0x03ff: 0x3ffp-24, 0x0400: 0x1p-14, 0x3555: 0.333251953125,
		0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0x7c00: inf, 0xfc00: -inf,
	} {
		if got := decode(h); got != want {
			t.Errorf("%#04x: got %v, want %v", h, got, want)
		}
		if got := encode(want); got != h {
			t.Errorf("%v: got %#04x, want %#04x", want, got, h)
		}
	}
	if got := encode(inf - 1e38); got != 0x7c00 {
		t.Errorf("large: got %#04x, want infinity", got)
	}
	if x := decode(encode(float32(math.NaN()))); x == x {
		t.Errorf("NaN became %v", x)
	}
	if x := decode(0x7e01); x == x {
		t.Errorf("NaN became %v", x)
	}
}

// TestMany converts more numbers than one core does at a time.
func TestMany(t *testing.T) {
	numbers := make([]float32, 2*part+5)
	for i := range numbers {
		numbers[i] = float32(i % 2048)
	}
	b, got := make([]byte, 2*len(numbers)), make([]float32, len(numbers))
	Encode(b, numbers)
	Decode(got, b)
	if !slices.Equal(got, numbers) {
		t.Error("the numbers changed")
	}
}
