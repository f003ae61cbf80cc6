package speech

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"lipsync/internal/dsp"
)

const (
	fftSize  = 512
	binWidth = float64(SampleRate) / fftSize // Hz
	bands    = 20                            // triangular mel filters from lowest to highest Hz
	lowest   = 80
	highest  = 7600
)

// hopFeatures is what is kept of one window.
type hopFeatures struct {
	mel     [bands]float32 // dB
	level   float32        // 80–3000 Hz, dB
	formant float32        // 480–1150 Hz over 100–420 Hz, dB: high for an open vowel
}

// analyser computes the features of windows.
type analyser struct {
	spectrum *dsp.Spectrum
	filters  dsp.MelBank
}

func newAnalyser() *analyser {
	return &analyser{
		spectrum: dsp.NewSpectrum(dsp.Hann(window), fftSize),
		filters:  dsp.NewMelBank(dsp.HTK.Edges(lowest, highest, bands), binWidth),
	}
}

// features analyses one window of samples.
func (a *analyser) features(samples []float64) (h hopFeatures) {
	power := a.spectrum.Power(samples)
	var mel [bands]float64
	a.filters.Apply(mel[:], power)
	for b, p := range mel {
		h.mel[b] = decibels(p + 1e-7)
	}
	h.level = decibels(between(power, 80, 3000) + 1e-7)
	h.formant = decibels(between(power, 480, 1150)+1e-9) - decibels(between(power, 100, 420)+1e-9)
	return h
}

// between returns the power from low up to high Hz.
func between(power []float64, low, high float64) float64 {
	return floats.Sum(power[int(math.Ceil(low/binWidth)):int(math.Ceil(high/binWidth))])
}

func decibels(power float64) float32 { return float32(dsp.Decibels(power)) }
