package dsp_test

import (
	"math"
	"slices"
	"testing"

	"lipsync/internal/signal/dsp"
)

func TestDecode(t *testing.T) {
	got := make([]float64, 6)
	dsp.Decode(got, []byte{0, 0, 1, 0, 0, 0x40, 0xff, 0x7f, 0xff, 0xff, 0, 0x80, 99})
	want := []float64{0, 1. / 32768, .5, 32767. / 32768, -1. / 32768, -1}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestEmphasize(t *testing.T) {
	x := []float64{1, 2, 4, 4}
	last := dsp.Emphasize(x, .5, 6)
	if want := []float64{-2, 1.5, 3, 2}; !slices.Equal(x, want) || last != 4 {
		t.Errorf("got %v and %g, want %v and 4", x, last, want)
	}
	if got := dsp.Emphasize(nil, .5, 6); got != 6 {
		t.Errorf("of no samples: got %g, want the one before, 6", got)
	}
}

func TestDecibels(t *testing.T) {
	for power, want := range map[float64]float64{1: 0, 100: 20, .001: -30, 2: 3.0103, 0: math.Inf(-1)} {
		if got := dsp.Decibels(power); got != want && !(math.Abs(got-want) < 1e-5) {
			t.Errorf("%g: got %g dB, want %g", power, got, want)
		}
	}
}

func TestAt(t *testing.T) {
	curve := []float32{3, 5, -1}
	for _, c := range []struct {
		at   float64
		want float32
	}{
		{0, 3}, {.5, 4}, {1, 5}, {1.25, 3.5}, {1.5, 2},
		{2, 0}, {7, 0}, {-.1, 0}, {-7, 0}, // outside
	} {
		if got := dsp.At(curve, c.at); got != c.want {
			t.Errorf("at %g: got %g, want %g", c.at, got, c.want)
		}
	}
	if got := dsp.At(nil, 0); got != 0 {
		t.Errorf("no curve: got %g, want 0", got)
	}
}
