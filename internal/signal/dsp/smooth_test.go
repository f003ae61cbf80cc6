package dsp_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lipsync/internal/signal/dsp"
)

func TestGaussian(t *testing.T) {
	// Of an impulse in the middle: the normal distribution.
	impulse := make([]float32, 41)
	impulse[20] = 1
	out := dsp.Gaussian(impulse, 2.5)
	for i, got := range out {
		d := float64(i-20) / 2.5
		if want := math.Exp(-d*d/2) / (2.5 * math.Sqrt(2*math.Pi)); math.Abs(float64(got)-want) > 1e-3 {
			t.Errorf("impulse, sample %d: got %.4f, want %.4f", i, got, want)
		}
	}
	for _, c := range []struct {
		name  string
		x     []float32
		sigma float64
		want  []float32
	}{
		{"nothing", nil, 2, []float32{}},
		{"one value", []float32{3}, 2, []float32{3}},
		{"a constant, ends included", []float32{5, 5, 5, 5}, 10, []float32{5, 5, 5, 5}},
		{"no filter", []float32{1, 9, 2}, 0, []float32{1, 9, 2}},
		{"a negative width", []float32{1, 9, 2}, -1, []float32{1, 9, 2}},
		{"so narrow that it is none", []float32{1, 9, 2}, .1, []float32{1, 9, 2}},
	} {
		if got := dsp.Gaussian(c.x, c.sigma); !near(got, c.want, 1e-5) || got == nil {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// TestGaussianOfNoise checks what holds of any input.
func TestGaussianOfNoise(t *testing.T) {
	for seed := range uint64(20) {
		x := noise(seed, 80)
		padded := make([]float32, 160) // zeros around, so that nothing is lost at the ends
		copy(padded[40:], x)
		sigma := .3 + float64(seed)*.4
		out := dsp.Gaussian(padded, sigma)
		if got, want := sum(out), sum(padded); math.Abs(got-want) > 1e-3 {
			t.Errorf("seed %d: sum is %g, want %g", seed, got, want)
		}
		if slices.Min(out) < slices.Min(padded) || slices.Max(out) > slices.Max(padded) {
			t.Errorf("seed %d: leaves the range of the input", seed)
		}
		reversed := slices.Clone(x)
		slices.Reverse(reversed)
		mirrored := dsp.Gaussian(reversed, sigma)
		slices.Reverse(mirrored)
		if !near(dsp.Gaussian(x, sigma), mirrored, 1e-5) {
			t.Errorf("seed %d: isn't symmetric", seed)
		}
		if again := noise(seed, 80); !slices.Equal(x, again) {
			t.Errorf("seed %d: changes its input", seed)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		name string
		x    []float32
		n    int
		want []float32
	}{
		{"nothing", nil, 5, nil},
		{"one value", []float32{4}, 5, []float32{4}},
		{"no filter", []float32{3, 1, 2}, 1, []float32{3, 1, 2}},
		{"an outlier", []float32{1, 1, 9, 1, 1}, 3, []float32{1, 1, 1, 1, 1}},
		{"two outliers are one too many for 3", []float32{1, 1, 9, 9, 1, 1}, 3, []float32{1, 1, 9, 9, 1, 1}},
		{"but not for 5", []float32{1, 1, 9, 9, 1, 1}, 5, []float32{1, 1, 1, 1, 1, 1}},
		{"a step stays", []float32{0, 0, 0, 1, 1, 1}, 5, []float32{0, 0, 0, 1, 1, 1}},
		{"the ends repeat", []float32{5, 1, 2}, 3, []float32{5, 2, 2}},
	} {
		if got := dsp.Median(c.x, c.n); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		x    []float32
		q    float64
		want float32
	}{
		{nil, .5, 0},
		{[]float32{7}, 0, 7},
		{[]float32{7}, 1, 7},
		{[]float32{3, 1, 2}, 0, 1},
		{[]float32{3, 1, 2}, .5, 2},
		{[]float32{3, 1, 2}, 1, 3},
		{[]float32{3, 1, 2}, .75, 2.5},
		{[]float32{10, 0}, .03, .3},
	} {
		x := slices.Clone(c.x)
		if got := dsp.Quantile(x, c.q); math.Abs(float64(got-c.want)) > 1e-6 {
			t.Errorf("quantile %g of %v: got %g, want %g", c.q, c.x, got, c.want)
		}
		if !slices.Equal(x, c.x) {
			t.Errorf("changes its input %v to %v", c.x, x)
		}
	}
	x := noise(1, 101)
	last := float32(math.Inf(-1))
	for q := 0.; q <= 1; q += 1. / 64 {
		v := dsp.Quantile(x, q)
		below := 0
		for _, y := range x {
			if y < v {
				below++
			}
		}
		if v < last || math.Abs(float64(below)-100*q) > 1 {
			t.Errorf("quantile %g: %g, after %g, with %d of 101 below", q, v, last, below)
		}
		last = v
	}
}

func noise(seed uint64, n int) []float32 {
	r := rand.New(rand.NewPCG(seed, 0))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

func sum(x []float32) (s float64) {
	for _, v := range x {
		s += float64(v)
	}
	return s
}

func near(a, b []float32, most float64) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Abs(float64(x-y)) <= most })
}

func TestGaussianMean(t *testing.T) {
	x, weights := make([]float32, 50), make([]float32, 50)
	for i := range x {
		x[i], weights[i] = 3, 1
	}
	x[20], weights[20] = 100, 0 // counts nowhere
	for i, got := range dsp.GaussianMean(x, weights, 4) {
		if math.Abs(float64(got-3)) > 1e-5 {
			t.Errorf("value %d is %g, want 3", i, got)
		}
	}
	x[0] = 13 // counts once, also at its end
	if got := dsp.GaussianMean(x, weights, 4)[0]; got < 4 || got > 6 {
		t.Errorf("the first value is %g, want about 3 + 10 × its share of .18", got)
	}
	if got := dsp.GaussianMean(x, make([]float32, 50), 4); !slices.Equal(got, x) {
		t.Errorf("without weights: %v", got)
	}
}
