package alignment

import (
	"math"
	"slices"

	"lipsync/internal/signal/dsp"
	"lipsync/internal/signal/geom"
)

// filter says how values of consecutive frames are calmed where a face rests. First each becomes the median of the values around it. Then a Gaussian
// smooths them.
type filter struct {
	median int     // number of values around one
	sigma  float64 // standard deviation of the Gaussian, in values
}

const (
	surelyMoves = 9  // a face moves where values depart from calm by more than 3 standard deviations of the noise, squared
	around      = 2  // values on each side that the departure is averaged over
	noiseAround = 16 // values on each side that tell the noise
)

// calm filters values in place, without those that are wrong.
func (f filter) calm(x []float32) { copy(x, dsp.Gaussian(dsp.Median(x, f.median), f.sigma)) }

// steady filters values in place. Where a face rests it is calm. Where it moves faster than that follows, it is a parabola through five values, which
// doesn't lag: of three nods a second, at 25 frames/s, it keeps .97, and calm of rigidFilter .17. Between them it weighs both by how surely the distance
// from calm isn't noise (Lee, "Digital image enhancement and noise filtering by use of local statistics", 1980). Six nods a second are taken for noise.
func (f filter) steady(x []float32) {
	rest, noise := slices.Clone(x), noiseOf(x)
	f.calm(rest)
	despike(x)
	power := make([]float32, len(x))
	for i, v := range rest {
		power[i] = square(x[i] - v)
	}
	fast := parabolas(x)
	for i, v := range rest {
		near := power[max(i-around, 0):min(i+around+1, len(x))]
		var mean float32
		for _, p := range near {
			mean += p / float32(len(near))
		}
		if x[i] = v; mean > surelyMoves*noise[i] {
			x[i] += (fast[i] - v) * (1 - surelyMoves*noise[i]/mean)
		}
	}
}

// despike removes a spike: one value that is off while its neighbours aren't. Where x bends to and fro in three values, it takes away the least of the
// three spikes that explain the bends. A step, a ramp and a parabola stay.
func despike(x []float32) {
	in := slices.Clone(x)
	bend := func(i int) float32 { return in[i-1] - 2*in[i] + in[i+1] }
	for i := 2; i < len(x)-2; i++ {
		before, at, after := bend(i-1), -bend(i)/2, bend(i+1)
		x[i] -= max(min(before, at, after), 0) + min(max(before, at, after), 0)
	}
}

// parabolas returns for each value the one there of the parabola that fits best to it and two neighbours on each side (Savitzky and Golay, 1964). The
// first two and the last two stay.
func parabolas(x []float32) []float32 {
	out := slices.Clone(x)
	for i := 2; i < len(x)-2; i++ {
		out[i] = (17*x[i] + 12*(x[i-1]+x[i+1]) - 3*(x[i-2]+x[i+2])) / 35
	}
	return out
}

// noiseOf returns the variance of the noise of the values around each of consecutive ones, by the median of their squared sixth differences. Motion adds
// little to them: three nods a second, at 25 frames/s, .15 of their height, where noise adds 30 times its own. Of fewer than seven values all is noise.
func noiseOf(x []float32) []float32 {
	const ofNoise = 2*(1+6*6+15*15) + 20*20 // variance of a sixth difference of noise of variance 1
	const median = .455                     // of the square of a normal number of variance 1
	squares := make([]float32, max(len(x)-6, 0))
	for i := range squares {
		squares[i] = square(x[i] + x[i+6] - 6*(x[i+1]+x[i+5]) + 15*(x[i+2]+x[i+4]) - 20*x[i+3])
	}
	out := make([]float32, len(x))
	for i := range out {
		out[i] = math.MaxFloat32
		if from, to := max(i-noiseAround, 0), min(i+noiseAround+1, len(x)); to-from > 6 {
			out[i] = dsp.Quantile(squares[from:to-6], .5) / median / ofNoise
		}
	}
	return out
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
		between(x, cuts, placeFilter.steady)
	}
	for i := range to {
		s := geom.Similarity{A: values[0][i], B: values[1][i]}
		p := s.Apply(middle)
		s.X, s.Y = values[2][i]-p.X, values[3][i]-p.Y
		to[i] = s
	}
}

// smoothPoints returns one point of each of consecutive samples, filtered. The samples between two cuts are filtered by themselves.
func smoothPoints(samples []sample, point func(*sample) geom.Point, cuts []int, inPlace func([]float32)) []geom.Point {
	x, y := make([]float32, len(samples)), make([]float32, len(samples))
	for i := range samples {
		p := point(&samples[i])
		x[i], y[i] = p.X, p.Y
	}
	between(x, cuts, inPlace)
	between(y, cuts, inPlace)
	out := make([]geom.Point, len(samples))
	for i := range out {
		out[i] = geom.Point{X: x[i], Y: y[i]}
	}
	return out
}

// between filters the values between two cuts by themselves.
func between(x []float32, cuts []int, inPlace func([]float32)) {
	from := 0
	for _, cut := range cuts {
		inPlace(x[from:cut])
		from = cut
	}
	inPlace(x[from:])
}

func square(x float32) float32 { return x * x }
