package score

import (
	"cmp"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/stat"

	"lipsync/internal/signal/dsp"
	"lipsync/internal/signal/parallel"
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
func (m *movements) chance(curve []float64, slow float64) gumbel {
	like := newLike(curve, slow)
	highest := make([]float64, surrogates)
	for some := range slices.Chunk(highest, atOnce) {
		phased := make([][]complex128, len(some))
		for i := range phased {
			phased[i] = like.phased()
		}
		parallel.Each(len(some), func(i int) {
			other := like.curve(phased[i])
			for lag := -mostLag; lag <= mostLag; lag++ {
				some[i] = max(some[i], m.agreement(other, lag))
			}
		})
	}
	mean, deviation := stat.MeanStdDev(highest, nil)
	const euler = .5772156649 // the Euler–Mascheroni constant
	scale := deviation * math.Sqrt(6) / math.Pi
	return gumbel{mean - euler*scale, scale}
}

// atOnce is the number of surrogates in memory.
const atOnce = 16

// like makes surrogates of a curve: they have its level around each frame, and so its pauses; and about its values in units of this level, and
// their spectrum with random phases (Theiler et al., "Testing for Nonlinearity in Time Series: the Method of Surrogate Data", 1992). Without the
// pauses, other speeches that begin and end with the curve would agree more than its surrogates. The same curve always has the same surrogates.
type like struct {
	level    []float64 // the root of the curve's power, filtered by the Gaussian slow
	sorted   []float64 // the curve's values in units of the level
	spectrum []complex128
	random   *rand.Rand
}

// fftFactor divides the lengths that are transformed: a prime length would take long.
const fftFactor = 16

func newLike(curve []float64, slow float64) *like {
	n := len(curve) / fftFactor * fftFactor
	power := make([]float32, len(curve))
	for i, v := range curve {
		power[i] = float32(v * v)
	}
	power = dsp.Gaussian(power, slow)
	least := max(leastPower*slices.Max(power), math.SmallestNonzeroFloat32)
	l := &like{level: make([]float64, len(curve)), random: rand.New(rand.NewPCG(1, 1))}
	even := make([]float64, len(curve))
	for i, v := range curve {
		l.level[i] = math.Sqrt(float64(max(power[i], least)))
		even[i] = v / l.level[i]
	}
	l.sorted, l.spectrum = slices.Sorted(slices.Values(even)), fourier.NewFFT(n).Coefficients(nil, even[:n])
	return l
}

// leastPower is the least power around a frame, as a share of the greatest, so that the noise in pauses isn't raised to speech.
const leastPower = .01

// phased returns the spectrum of another surrogate.
func (l *like) phased() []complex128 {
	phased := make([]complex128, len(l.spectrum))
	for i, c := range l.spectrum {
		phased[i] = c * cmplx.Rect(1, 2*math.Pi*l.random.Float64())
	}
	phased[0] = 0
	return phased
}

// curve returns the surrogate of a spectrum. It repeats its beginning where the length isn't a multiple of fftFactor. Any number of
// calls may run at once.
func (l *like) curve(phased []complex128) []float64 {
	wave := fourier.NewFFT(len(l.sorted)/fftFactor*fftFactor).Sequence(nil, phased)
	wave = append(wave, wave[:len(l.sorted)-len(wave)]...)
	order := make([]int, len(wave))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(wave[a], wave[b]) })
	for rank, i := range order {
		wave[i] = l.sorted[rank] * l.level[i]
	}
	return wave
}
