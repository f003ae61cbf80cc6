package dsp

import (
	"math"
	"testing"
)

// TestDCT checks that the rows of the transform are orthonormal.
func TestDCT(t *testing.T) {
	const n = 26
	waves := dct(n, n)
	for i, a := range waves {
		for j, b := range waves {
			got, want := 0., 0.
			for k := range a {
				got += a[k] * b[k]
			}
			if i == j {
				want = 1
			}
			if math.Abs(got-want) > 1e-12 {
				t.Errorf("rows %d and %d: product %g, want %g", i, j, got, want)
			}
		}
	}
	// Of a straight line, by SciPy: scipy.fft.dct([1, 2, 3, 4], norm="ortho").
	want := []float64{5, -2.23044250, 0, -.15851267}
	for i, wave := range dct(4, 4) {
		got := wave[0] + 2*wave[1] + 3*wave[2] + 4*wave[3]
		if math.Abs(got-want[i]) > 1e-7 {
			t.Errorf("coefficient %d of a line: got %.8f, want %.8f", i, got, want[i])
		}
	}
}

// TestMFCC computes the coefficients of an impulse, whose spectrum is flat: each
// band has the weight of its triangle.
func TestMFCC(t *testing.T) {
	const n = 32
	bank := NewMelBank([]float64{0, 1, 3, 7, 15}, 1) // areas of 1.5, 3 and 6
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = 8
	}
	m := NewMFCC(NewSpectrum(weights, n), bank, 3, 22)
	impulse := make([]float64, n)
	impulse[5] = .5 // the power of each bin is 16, over the length .5
	bands := [3]float64{}
	sums := make([]float64, 3)
	flat := make([]float64, n/2+1)
	for i := range flat {
		flat[i] = .5
	}
	bank.Apply(sums, flat)
	for i, v := range sums {
		bands[i] = math.Log(v)
	}
	want := [3]float64{
		math.Log(.5 * (n/2 + 1)),
		(bands[0] - bands[2]) / math.Sqrt2 * (1 + 11*math.Sin(math.Pi/22)),
		(bands[0] - 2*bands[1] + bands[2]) / math.Sqrt(6) * (1 + 11*math.Sin(2*math.Pi/22)),
	}
	var got [3]float32
	m.Coefficients(got[:], impulse)
	for i := range got {
		if math.Abs(float64(got[i])-want[i]) > 1e-5 {
			t.Errorf("coefficient %d: got %g, want %g", i, got[i], want[i])
		}
	}
	m.Coefficients(got[:], make([]float64, n))
	for i, want := range [3]float64{-52 * math.Ln2, 0, 0} {
		if math.Abs(float64(got[i])-want) > 1e-5 {
			t.Errorf("coefficient %d of silence: got %g, want %g", i, got[i], want)
		}
	}
}
