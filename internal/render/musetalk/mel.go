package musetalk

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"lipsync/internal/signal/dsp"
	"lipsync/internal/sound/speech"
)

// These constants define the spectrogram, as Whisper's published code computes it.
const (
	bands      = 80                    // mel bands from lowest to highest
	columns    = stretchTime * 100     // of a stretch
	hop        = 160                   // samples from column to column: 10 ms
	span       = 400                   // samples of a column: 25 ms
	highest    = speech.SampleRate / 2 // Hz
	leastPower = 1e-10
	mostRange  = 8 // log10 of the loudest power to the softest that differs from silence
)

// spectrogram computes the log-mel spectrogram of a stretch: for each band, from low to high, its values in the columns.
type spectrogram struct {
	mel      dsp.MelBank
	spectrum *dsp.Spectrum
	sound    []float64 // of a stretch, with span/2 samples before it and after it
}

// spectrograms are unused ones.
var spectrograms = sync.Pool{New: func() any {
	return &spectrogram{
		mel:      dsp.NewUnitAreaMelBank(dsp.Slaney.Edges(0, highest, bands), float64(speech.SampleRate)/span),
		spectrum: dsp.NewSpectrum(dsp.PeriodicHann(span), span),
		sound:    make([]float64, stretchTime*speech.SampleRate+span),
	}
}}

// fill fills mel with the stretch that begins with the sample with the index from.
func (l *spectrogram) fill(mel []float32, samples *io.SectionReader, from int64) error {
	if err := l.read(samples, from); err != nil {
		return err
	}
	var powers [bands]float64
	loudest := math.Inf(-1)
	for c := range columns {
		l.mel.Apply(powers[:], l.spectrum.Power(l.sound[c*hop:c*hop+span]))
		for b, power := range powers {
			v := math.Log10(max(power, leastPower))
			loudest = max(loudest, v)
			mel[b*columns+c] = float32(v)
		}
	}
	least := float32(loudest - mostRange)
	for i, v := range mel {
		mel[i] = (max(v, least) + 4) / 4
	}
	return nil
}

// read fills sound. After the end of the speech there is silence, and beyond the ends of the stretch it is reflected.
func (l *spectrogram) read(samples *io.SectionReader, from int64) error {
	const edge = span / 2
	inside := l.sound[edge : len(l.sound)-edge]
	clear(inside)
	data := make([]byte, 2*min(int64(len(inside)), max(samples.Size()/2-from, 0)))
	if _, err := samples.ReadAt(data, 2*from); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read speech: %w", err)
	}
	dsp.Decode(inside[:len(data)/2], data)
	before, after := l.sound[:edge], l.sound[len(l.sound)-edge:]
	copy(before, inside[1:edge+1])
	copy(after, inside[len(inside)-edge-1:])
	slices.Reverse(before)
	slices.Reverse(after)
	return nil
}
