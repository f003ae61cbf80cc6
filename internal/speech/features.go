package speech

import "lipsync/internal/dsp"

const (
	fftSize = 512
	bands   = 40 // triangular mel filters from lowest to highest Hz
	lowest  = 80
	highest = 7600
	voiced  = 26 // the first bands, those centred below 3000 Hz, make the level

	// What digital silence reads, in dB, as a band and as a level.
	floor   = -90
	nothing = -70
)

// hopFeatures is what is kept of one window.
type hopFeatures struct {
	mel   [bands]float32 // dB
	level float32        // up to 3000 Hz, dB
}

// analyser computes the features of windows.
type analyser struct {
	spectrum *dsp.Spectrum
	filters  dsp.MelBank
}

func newAnalyser() *analyser {
	const binWidth = float64(SampleRate) / fftSize // Hz
	return &analyser{
		spectrum: dsp.NewSpectrum(dsp.Hann(window), fftSize),
		filters:  dsp.NewMelBank(dsp.HTK.Edges(lowest, highest, bands), binWidth),
	}
}

// features analyses one window of samples.
func (a *analyser) features(samples []float64) (h hopFeatures) {
	var power [bands]float64
	a.filters.Apply(power[:], a.spectrum.Power(samples))
	var level float64
	for b, p := range power {
		h.mel[b] = max(decibels(p), floor)
		if b < voiced {
			level += p
		}
	}
	h.level = max(decibels(level), nothing)
	return h
}

func decibels(power float64) float32 { return float32(dsp.Decibels(power)) }
