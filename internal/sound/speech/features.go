package speech

import "lipsync/internal/signal/dsp"

// These constants define the features. The network was trained with them.
const (
	fftSize = 512  // samples
	bands   = 40   // triangular mel filters from lowest to highest
	lowest  = 80   // Hz
	highest = 7600 // Hz
	voiced  = 26   // number of bands whose sum is the level, from the lowest on: those centred below 3000 Hz

	// The least values, in dB: those of digital silence.
	leastBand  = -90
	leastLevel = -70
)

// hopFeatures are the features of one window.
type hopFeatures struct {
	mel   [bands]float32 // dB
	level float32        // of the frequencies up to 3000 Hz, dB
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

// features returns the features of one window of samples.
func (a *analyser) features(samples []float64) (h hopFeatures) {
	var power [bands]float64
	a.filters.Apply(power[:], a.spectrum.Power(samples))
	var level float64
	for b, p := range power {
		h.mel[b] = max(decibels(p), leastBand)
		if b < voiced {
			level += p
		}
	}
	h.level = max(decibels(level), leastLevel)
	return h
}

func decibels(power float64) float32 { return float32(dsp.Decibels(power)) }
