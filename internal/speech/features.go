package speech

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
)

const (
	fftSize = 512
	bands   = 20 // triangular mel filters from lowest to highest Hz
	lowest  = 80
	highest = 7600
)

// hopFeatures is what is kept of one window.
type hopFeatures struct {
	mel     [bands]float32 // dB
	level   float32        // 80–3000 Hz, dB
	formant float32        // 480–1150 Hz over 100–420 Hz, dB: high for an open vowel
}

// analyser computes the features of windows.
type analyser struct {
	fft     *fourier.FFT
	hann    [window]float64
	filters [bands][fftSize/2 + 1]float64
	padded  [fftSize]float64
	bins    []complex128
	power   [fftSize/2 + 1]float64
}

func newAnalyser() *analyser {
	a := &analyser{fft: fourier.NewFFT(fftSize)}
	for i := range a.hann {
		a.hann[i] = .5 - .5*math.Cos(2*math.Pi*float64(i)/(window-1))
	}
	mel := func(hz float64) float64 { return 2595 * math.Log10(1+hz/700) }
	edge := func(i int) float64 {
		m := mel(lowest) + (mel(highest)-mel(lowest))*float64(i)/(bands+1)
		return 700 * (math.Pow(10, m/2595) - 1)
	}
	for b := range a.filters {
		left, centre, right := edge(b), edge(b+1), edge(b+2)
		for k := range a.filters[b] {
			f := float64(k) * SampleRate / fftSize
			a.filters[b][k] = max(min((f-left)/(centre-left), (right-f)/(right-centre)), 0)
		}
	}
	return a
}

// features analyses one window of samples.
func (a *analyser) features(samples []float64) (h hopFeatures) {
	for i, x := range samples {
		a.padded[i] = x * a.hann[i]
	}
	a.bins = a.fft.Coefficients(a.bins, a.padded[:])
	for k, c := range a.bins {
		a.power[k] = real(c)*real(c) + imag(c)*imag(c)
	}
	for b := range a.filters {
		var sum float64
		for k, w := range a.filters[b] {
			sum += w * a.power[k]
		}
		h.mel[b] = decibel(sum + 1e-7)
	}
	h.level = decibel(a.between(80, 3000) + 1e-7)
	h.formant = decibel(a.between(480, 1150)+1e-9) - decibel(a.between(100, 420)+1e-9)
	return h
}

// between returns the power from low up to high Hz.
func (a *analyser) between(low, high float64) (sum float64) {
	for k, p := range a.power {
		if f := float64(k) * SampleRate / fftSize; f >= low && f < high {
			sum += p
		}
	}
	return sum
}

func decibel(power float64) float32 { return float32(10 * math.Log10(power)) }

func power(x, e float32) float32 { return float32(math.Pow(float64(x), float64(e))) }
