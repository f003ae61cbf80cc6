package dsp_test

import (
	"math"
	"slices"
	"testing"

	"lipsync/internal/signal/dsp"
)

// librosaEdges are 40 frequencies up to 11025 Hz, as the documentation of
// librosa.mel_frequencies gives them.
var librosaEdges = []float64{
	0, 85.317, 170.635, 255.952, 341.269, 426.586, 511.904, 597.221, 682.538, 767.855, 853.173, 938.49, 1024.856, 1119.114,
	1222.042, 1334.436, 1457.167, 1591.187, 1737.532, 1897.337, 2071.84, 2262.393, 2470.47, 2697.686, 2945.799, 3216.731,
	3512.582, 3835.643, 4188.417, 4573.636, 4994.285, 5453.621, 5955.205, 6502.92, 7101.009, 7754.107, 8467.272, 9246.028,
	10096.408, 11025,
}

func TestEdges(t *testing.T) {
	for _, c := range []struct {
		name      string
		scale     dsp.MelScale
		low, high float64
		want      []float64
	}{
		{"Slaney", dsp.Slaney, 0, 11025, librosaEdges},
		{"Slaney, a part", dsp.Slaney, 255.952, 9246.028, librosaEdges[3:38]},
		{"HTK", dsp.HTK, 0, 700 * 31, []float64{0, 700, 2100, 4900, 10500, 21700}}, // 1 + Hz/700 doubles at each
		{"HTK, one band", dsp.HTK, 0, 1000, []float64{0, 700 * (math.Sqrt(1+1000./700) - 1), 1000}},
	} {
		got := c.scale.Edges(c.low, c.high, len(c.want)-2)
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 2e-3 }) {
			t.Errorf("%s: got %.3f, want %.3f", c.name, got, c.want)
		}
	}
}

// TestMelBank applies banks by hand.
func TestMelBank(t *testing.T) {
	edges := []float64{20, 60, 100, 120}
	for _, c := range []struct {
		name string
		bank dsp.MelBank
		want [][]float64 // the weight of each bin
	}{
		{"edges on bins", dsp.NewMelBank(edges, 20), [][]float64{
			{0, 0, .5, 1, .5, 0, 0, 0},
			{0, 0, 0, 0, .5, 1, 0, 0},
		}},
		{"edges between bins", dsp.NewMelBank(edges, 16), [][]float64{
			{0, 0, .3, .7, .9, .5, .1, 0},
			{0, 0, 0, 0, .1, .5, .9, .4},
		}},
		{"unit area", dsp.NewUnitAreaMelBank(edges, 20), [][]float64{
			{0, 0, .5 / 40, 1. / 40, .5 / 40, 0, 0, 0},
			{0, 0, 0, 0, .5 / 30, 1. / 30, 0, 0},
		}},
		{"narrower than a bin", dsp.NewMelBank([]float64{2.1, 2.4, 2.6, 3.5}, 1), [][]float64{
			{0, 0, 0, 0, 0, 0, 0, 0},
			{0, 0, 0, .5 / .9, 0, 0, 0, 0},
		}},
		{"equal edges", dsp.NewMelBank([]float64{2, 2, 4, 4}, 1), [][]float64{
			{0, 0, 0, .5, 0, 0, 0, 0},
			{0, 0, 0, .5, 0, 0, 0, 0},
		}},
	} {
		got := make([]float64, len(c.want))
		for k := range 8 {
			impulse := make([]float64, 8)
			impulse[k] = 1
			c.bank.Apply(got, impulse)
			for i := range got {
				if want := c.want[i][k]; !(math.Abs(got[i]-want) < 1e-12) {
					t.Errorf("%s: band %d weighs bin %d by %g, want %g", c.name, i, k, got[i], want)
				}
			}
		}
	}
}

// TestFlatSpectrum checks the sums of the weights: the halves of two triangles
// that overlap make one, and an area of one is that of the bins too, where they
// are many.
func TestFlatSpectrum(t *testing.T) {
	const binWidth = .25
	flat, bands := ones(8000/binWidth+1), make([]float64, 40)
	edges := dsp.HTK.Edges(80, 7600, len(bands))
	dsp.NewMelBank(edges, binWidth).Apply(bands, flat)
	got := 0.
	for _, v := range bands {
		got += v * binWidth
	}
	last := len(edges) - 1
	want := (edges[last]+edges[last-1])/2 - (edges[0]+edges[1])/2
	if math.Abs(got-want) > .01 {
		t.Errorf("all triangles have an area of %g, want %g", got, want)
	}
	dsp.NewUnitAreaMelBank(edges, binWidth).Apply(bands, flat)
	for i, v := range bands {
		if math.Abs(v*binWidth-1) > 1e-3 {
			t.Errorf("band %d has an area of %g, want 1", i, v*binWidth)
		}
	}
}
