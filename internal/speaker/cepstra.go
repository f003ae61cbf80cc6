package speaker

import (
	"encoding/binary"
	"math"

	"gonum.org/v1/gonum/dsp/fourier"

	"lipsync/internal/speech"
)

// What the network hears: mel cepstra as python_speech_features makes them by
// default, of int16 values.
const (
	coefficients  = 13
	melFilters    = 26
	windowSamples = speech.SampleRate / 40 // 25 ms
	hopSamples    = speech.SampleRate / 100
	hopsPerTick   = 100 / tickRate
	fftSize       = 512
	preEmphasis   = .97
	lifter        = 22.
	leastEnergy   = 0x1p-52 // for the logarithm of nothing
)

// Cepstra are the mel cepstra of a sound, every 10 ms. What is written to it are
// 16-bit little-endian mono samples at speech.SampleRate, as speech.Read takes
// them.
type Cepstra struct {
	rows    [][coefficients]float32
	odd     []byte    // half a sample
	before  float64   // the last sample, for the pre-emphasis
	pending []float64 // samples from the next window's first on
	fft     *fourier.FFT
	bins    []complex128
	filters [melFilters]filter
	waves   [coefficients][melFilters]float64 // of the cosine transform, with the lifter's gain
}

// NewCepstra returns the cepstra of a sound that has not begun.
func NewCepstra() *Cepstra {
	c := &Cepstra{fft: fourier.NewFFT(fftSize)}
	for m := range c.filters {
		c.filters[m] = newFilter(melEdge(m), melEdge(m+1), melEdge(m+2))
	}
	for i := range c.waves {
		gain := math.Sqrt(2./melFilters) * (1 + lifter/2*math.Sin(math.Pi*float64(i)/lifter))
		for m := range c.waves[i] {
			c.waves[i][m] = gain * math.Cos(math.Pi*float64(i)*(float64(m)+.5)/melFilters)
		}
	}
	return c
}

// filter is a triangle over the bins of a spectrum.
type filter struct {
	from    int
	weights []float64
}

func newFilter(left, centre, right float64) filter {
	f := filter{from: int(left)}
	for k := left; k < right; k++ {
		f.weights = append(f.weights, min((k-left)/(centre-left), (right-k)/(right-centre)))
	}
	return f
}

// melEdge is the bin of the spectrum where filter i begins.
func melEdge(i int) float64 {
	top := 2595 * math.Log10(1+speech.SampleRate/2/700.)
	hz := 700 * (math.Pow(10, top*float64(i)/(melFilters+1)/2595) - 1)
	return math.Floor((fftSize + 1) * hz / speech.SampleRate)
}

// Write analyses samples. It never fails.
func (c *Cepstra) Write(b []byte) (int, error) {
	n := len(b)
	if len(c.odd) > 0 && n > 0 {
		b = append(c.odd, b...)
		c.odd = nil
	}
	for ; len(b) >= 2; b = b[2:] {
		x := float64(int16(binary.LittleEndian.Uint16(b)))
		c.pending = append(c.pending, x-preEmphasis*c.before)
		c.before = x
		if len(c.pending) == windowSamples {
			c.rows = append(c.rows, c.row(c.pending))
			c.pending = append(c.pending[:0], c.pending[hopSamples:]...)
		}
	}
	c.odd = append(c.odd, b...)
	return n, nil
}

// row returns the cepstrum of a window of samples.
func (c *Cepstra) row(window []float64) (row [coefficients]float32) {
	var padded [fftSize]float64
	copy(padded[:], window)
	c.bins = c.fft.Coefficients(c.bins, padded[:])
	var power [fftSize/2 + 1]float64
	energy := 0.
	for k, bin := range c.bins {
		power[k] = (real(bin)*real(bin) + imag(bin)*imag(bin)) / fftSize
		energy += power[k]
	}
	var mel [melFilters]float64
	for m := range mel {
		for k, w := range c.filters[m].weights {
			mel[m] += w * power[c.filters[m].from+k]
		}
		mel[m] = math.Log(max(mel[m], leastEnergy))
	}
	for i := range row {
		sum := 0.
		for m, v := range mel {
			sum += v * c.waves[i][m]
		}
		row[i] = float32(sum)
	}
	row[0] = float32(math.Log(max(energy, leastEnergy)))
	return row
}

// at returns the cepstrum of a hop, that of silence after the end.
func (c *Cepstra) at(hop int) [coefficients]float32 {
	if hop < len(c.rows) {
		return c.rows[hop]
	}
	return [coefficients]float32{float32(math.Log(leastEnergy))}
}
