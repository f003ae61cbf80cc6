package alignment

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// filters are those that are steady.
var filters = []filter{placeFilter, rigidFilter}

// TestSteady moves a place in known ways, with readings that err, and compares it with the filtered readings after the first and before the last five.
func TestSteady(t *testing.T) {
	const n, noise = 96, .3 // pixels
	for _, c := range []struct {
		name string
		most float64 // error, pixels
		at   func(i float64) float64
	}{
		{"rests", .5, func(float64) float64 { return 100 }},
		{"ramp", 1, func(i float64) float64 { return 12 * i }},
		{"speeds up", 1, func(i float64) float64 { return .5 * i * i }},
		{"step", 6, func(i float64) float64 { return 20 * math.Floor(i/48) }},
		{"jerk", 3.5, func(i float64) float64 { return 15 * min(max(i-40, 0), 3) }},
		{"nods twice a second", 1.5, func(i float64) float64 { return 24 * math.Sin(2*math.Pi*i/11) }},
		{"nods three times a second", 3, func(i float64) float64 { return 24 * math.Sin(2*math.Pi*i*3/25) }},
		{"shakes four times a second", 2.5, func(i float64) float64 { return 14 * math.Sin(2*math.Pi*i*4/25) }},
		{"nods once", 1.75, func(i float64) float64 { return 24 * math.Exp(-(i-48)*(i-48)/16) }},
	} {
		for _, f := range filters {
			r := rand.New(rand.NewPCG(1, 2))
			x := make([]float32, n)
			for i := range x {
				x[i] = float32(c.at(float64(i)) + noise*r.NormFloat64())
			}
			f.steady(x)
			for i, v := range x[5 : n-5] {
				if e := math.Abs(float64(v) - c.at(float64(i+5))); e > c.most {
					t.Errorf("%s, sigma %g, value %d: %.2f off, want %.2f", c.name, f.sigma, i+5, e, c.most)
				}
			}
		}
	}
}

// TestSteadyAtRest compares what is left of the noise of a place that rests with what calm leaves.
func TestSteadyAtRest(t *testing.T) {
	const n = 20000
	for _, f := range filters {
		r := rand.New(rand.NewPCG(3, 4))
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		var got, want float64
		rest := slices.Clone(x)
		f.calm(rest)
		for _, v := range rest {
			want += float64(v * v)
		}
		f.steady(x)
		for _, v := range x {
			got += float64(v * v)
		}
		if got > 1.01*want {
			t.Errorf("sigma %g: noise of %.4f is left, calm leaves %.4f", f.sigma, math.Sqrt(got/n), math.Sqrt(want/n))
		}
	}
}

// TestSteadyInBlocks filters a head that rests, nods and rests again at once and in blocks, with the values around that an Aligner keeps. Both must be
// the same: a face must not jump where a block ends.
func TestSteadyInBlocks(t *testing.T) {
	const n, block = 240, 40
	for _, f := range filters {
		r := rand.New(rand.NewPCG(7, 8))
		read := make([]float32, n)
		for i := range read {
			if read[i] = float32(.3 * r.NormFloat64()); i/70 == 1 {
				read[i] += float32(24 * math.Sin(2*math.Pi*float64(i-70)/9))
			}
		}
		whole := slices.Clone(read)
		f.steady(whole)
		for from := 0; from < n; from += block {
			first := max(from-smoothFrames, 0)
			part := slices.Clone(read[first:min(from+block+smoothFrames, n)])
			f.steady(part)
			for i := from; i < from+block; i++ {
				if d := math.Abs(float64(part[i-first] - whole[i])); d > .05 {
					t.Errorf("sigma %g, value %d: %.3f off in a block", f.sigma, i, d)
				}
			}
		}
	}
}

// TestDespike checks which values are removed as spikes.
func TestDespike(t *testing.T) {
	for name, c := range map[string][2][]float32{
		"nothing":           {{}, {}},
		"few values":        {{1, 9, 1, 1}, {1, 9, 1, 1}},
		"alone":             {{1, 1, 1, 9, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1}},
		"alone on a ramp":   {{1, 2, 3, -9, 5, 6, 7}, {1, 2, 3, 4, 5, 6, 7}},
		"a step":            {{1, 1, 1, 9, 9, 9}, {1, 1, 1, 9, 9, 9}},
		"a parabola":        {{9, 4, 1, 0, 1, 4, 9}, {9, 4, 1, 0, 1, 4, 9}},
		"a turn":            {{0, 3, 6, 9, 6, 3, 0}, {0, 3, 6, 9, 6, 3, 0}},
		"two are not alone": {{1, 1, 1, 9, 9, 1, 1, 1}, {1, 1, 1, 9, 9, 1, 1, 1}},
	} {
		x := append([]float32{}, c[0]...)
		despike(x)
		for i, v := range x {
			if math.Abs(float64(v-c[1][i])) > 1e-5 {
				t.Errorf("%s: got %v, want %v", name, x, c[1])
				break
			}
		}
	}
}
