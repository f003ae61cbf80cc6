package score

import (
	"cmp"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/stat"
)

// surrogates is the number of curves from which the distribution of chance is known. Its standard deviation is then known to 5 %.
const surrogates = 200

// gumbel is a Gumbel distribution, which is that of a maximum.
type gumbel struct{ place, scale float64 }

// below returns the probability that a value is less than z.
func (g gumbel) below(z float64) float64 {
	if g.scale == 0 {
		return 0 // nothing moves
	}
	return math.Exp(-math.Exp((g.place - z) / g.scale))
}

// chance returns the distribution of the highest agreement at all lags with curves that have nothing to do with the movements, but are like
// the given one.
func (m *movements) chance(curve []float64) gumbel {
	like := newLike(curve)
	highest := make([]float64, surrogates)
	for i := range highest {
		other := like.next()
		for lag := -mostLag; lag <= mostLag; lag++ {
			highest[i] = max(highest[i], m.agreement(other, lag))
		}
	}
	mean, deviation := stat.MeanStdDev(highest, nil)
	const euler = .5772156649 // the Euler–Mascheroni constant
	scale := deviation * math.Sqrt(6) / math.Pi
	return gumbel{mean - euler*scale, scale}
}

// like makes surrogates of a curve: they have its values, and its spectrum with random phases (Theiler et al., "Testing for Nonlinearity in
// Time Series: the Method of Surrogate Data", 1992). The same curve always has the same surrogates.
type like struct {
	sorted   []float64 // the curve's values
	fft      *fourier.FFT
	spectrum []complex128
	random   *rand.Rand
}

// fftFactor divides the lengths that are transformed: a prime length would take long.
const fftFactor = 16

func newLike(curve []float64) *like {
	n := len(curve) / fftFactor * fftFactor
	l := &like{sorted: slices.Sorted(slices.Values(curve)), fft: fourier.NewFFT(n), random: rand.New(rand.NewPCG(1, 1))}
	l.spectrum = l.fft.Coefficients(nil, curve[:n])
	return l
}

// next returns another surrogate. It repeats its beginning where the length isn't a multiple of fftFactor.
func (l *like) next() []float64 {
	phased := make([]complex128, len(l.spectrum))
	for i, c := range l.spectrum {
		phased[i] = c * cmplx.Rect(1, 2*math.Pi*l.random.Float64())
	}
	phased[0] = 0
	wave := l.fft.Sequence(nil, phased)
	wave = append(wave, wave[:len(l.sorted)-len(wave)]...)
	order := make([]int, len(wave))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(wave[a], wave[b]) })
	for rank, i := range order {
		wave[i] = l.sorted[rank]
	}
	return wave
}
