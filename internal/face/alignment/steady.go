package alignment

import (
	"math"
	"slices"

	"lipsync/internal/signal/dsp"
	"lipsync/internal/signal/geom"
)

const (
	surely = 9 // values move if they depart from calm by so many times the power of noise: 3 standard deviations
	around = 2 // that power is the mean of so many values to each side: a head that shakes four times a second turns back after 3 frames
)

// calm returns values without those that are wrong, by a median of n, and filtered by a Gaussian with a standard deviation of sigma values.
func calm(x []float32, n int, sigma float64) []float32 { return dsp.Gaussian(dsp.Median(x, n), sigma) }

// steady filters consecutive values in place. Where a face rests it is the filter calm. Where it moves faster than that follows, it is a parabola
// through five values, which has no lag at any acceleration. Between them it weighs both by how surely the departure from calm isn't noise (Lee,
// "Digital image enhancement and noise filtering by use of local statistics", 1980).
func steady(x []float32, n int, sigma float64) {
	rest, noise := calm(x, n, sigma), surely*noiseOf(x)
	despike(x)
	power := make([]float32, len(x))
	for i, v := range rest {
		power[i] = (x[i] - v) * (x[i] - v)
	}
	fast := parabolas(x)
	for i, v := range rest {
		near := power[max(i-around, 0):min(i+around+1, len(x))]
		var mean float32
		for _, p := range near {
			mean += p / float32(len(near))
		}
		if x[i] = v; mean > noise {
			x[i] += (fast[i] - v) * (1 - noise/mean)
		}
	}
}

// despike removes values that stand alone: where x bends to and fro in three values, it takes away the least of the three spikes that explain the
// bends. Ramps, parabolas and steps stay, as the turn of a head does, which bends one way for two frames or more.
func despike(x []float32) {
	in := slices.Clone(x)
	bend := func(i int) float32 { return in[i-1] - 2*in[i] + in[i+1] }
	for i := 2; i < len(x)-2; i++ {
		before, at, after := bend(i-1), -bend(i)/2, bend(i+1)
		x[i] -= max(min(before, at, after), 0) + min(max(before, at, after), 0)
	}
}

// parabolas returns for each of consecutive values that of the parabola that fits best to it and the two on each side (Savitzky and Golay, 1964).
// The first two and the last two stay.
func parabolas(x []float32) []float32 {
	out := slices.Clone(x)
	for i := 2; i < len(x)-2; i++ {
		out[i] = (17*x[i] + 12*(x[i-1]+x[i+1]) - 3*(x[i-2]+x[i+2])) / 35
	}
	return out
}

// noiseOf returns the variance of the noise of consecutive values, by the median of their squared fourth differences, of which motion has little: a
// head that nods twice a second has at most a tenth of the nod. Of fewer than five values all is noise.
func noiseOf(x []float32) float32 {
	const ofNoise = 1 + 16 + 36 + 16 + 1 // variance of a fourth difference of noise of variance 1
	const median = .455                  // of the square of a normal number of variance 1
	if len(x) < 5 {
		return math.MaxFloat32
	}
	squares := make([]float32, len(x)-4)
	for i := range squares {
		d := x[i] - 4*x[i+1] + 6*x[i+2] - 4*x[i+3] + x[i+4]
		squares[i] = d * d
	}
	return dsp.Quantile(squares, .5) / median / ofNoise
}

// steadyPlaces filters similarities of consecutive samples in place: where they bring the middle of the band, their turn and their scale.
func steadyPlaces(to []geom.Similarity, cuts []int) {
	middle := Band.Place(Band.Width/2, Band.Height/2)
	var values [4][]float32
	for _, s := range to {
		p := s.Apply(middle)
		for k, v := range [len(values)]float32{s.A, s.B, p.X, p.Y} {
			values[k] = append(values[k], v)
		}
	}
	for _, x := range values {
		between(x, cuts, func(x []float32) { steady(x, placeMedian, placeSmooth) })
	}
	for i := range to {
		s := geom.Similarity{A: values[0][i], B: values[1][i]}
		p := s.Apply(middle)
		s.X, s.Y = values[2][i]-p.X, values[3][i]-p.Y
		to[i] = s
	}
}

// smoothPoints returns one point of each of consecutive samples, by a filter that works in place. The samples between two cuts are filtered by
// themselves.
func smoothPoints(samples []sample, point func(*sample) geom.Point, cuts []int, filter func([]float32)) []geom.Point {
	x, y := make([]float32, len(samples)), make([]float32, len(samples))
	for i := range samples {
		p := point(&samples[i])
		x[i], y[i] = p.X, p.Y
	}
	between(x, cuts, filter)
	between(y, cuts, filter)
	out := make([]geom.Point, len(samples))
	for i := range out {
		out[i] = geom.Point{X: x[i], Y: y[i]}
	}
	return out
}

// between filters the values between two cuts by themselves.
func between(x []float32, cuts []int, filter func([]float32)) {
	from := 0
	for _, cut := range cuts {
		filter(x[from:cut])
		from = cut
	}
	filter(x[from:])
}
