package wav2lip

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"lipsync/internal/render/neural"
	"lipsync/internal/signal/dsp"
	"lipsync/internal/sound/speech"
)

// These constants define the spectrogram, as the published code computes it.
const (
	bands      = 80                      // mel bands from lowest to highest
	columns    = 16                      // of a window: .2 s
	columnRate = speech.SampleRate / hop // columns a second
	hop        = 200                     // samples from column to column: 12.5 ms
	span       = 800                     // samples of a column: 50 ms
	emphasis   = .97
	lowest     = 55   // Hz
	highest    = 7600 // Hz

	leastAmplitude = 1e-5 // a smaller amplitude counts as this: -100 dB
	referenceLevel = 20   // dB that are subtracted
	leastLevel     = -100 // dB that become -mostValue; 0 dB become mostValue
	mostValue      = 4
)

// window is the sound of one frame as the network takes it: for each band, from low to high, its values in the columns. They
// are from -4, for silence, to 4.
type window [bands * columns]float32

// windowStart returns the first column of a frame's window, in a sound with columnsInAll columns. Frames at the end of the
// sound, and after it, share the last window.
func windowStart(frame int, fps float64, columnsInAll int) int {
	start := int(float64(frame) * (columnRate / fps)) // rounds as the reference does
	return max(min(start, columnsInAll-columns), 0)
}

// columnsOf returns the number of columns of a sound of so many samples.
func columnsOf(samples int64) int { return int(samples/hop) + 1 }

// heard is the speech of one job.
type heard struct {
	samples *io.SectionReader
	fps     float64
}

func hear(samples *io.SectionReader, fps float64) neural.Speech { return heard{samples, fps} }

// spectrograms are unused ones.
var spectrograms = sync.Pool{New: func() any { return newSpectrogram() }}

func (h heard) Fill(_ context.Context, sound []float32, frame int) error {
	l := spectrograms.Get().(*spectrogram)
	defer spectrograms.Put(l)
	return l.fill((*window)(sound), h.samples, windowStart(frame, h.fps, columnsOf(h.samples.Size()/2)))
}

// spectrogram computes windows straight from the samples. That takes less than a hundredth of the network's time, so
// windows are not kept.
type spectrogram struct {
	mel      dsp.MelBank
	spectrum *dsp.Spectrum
	bytes    [2 * (span + (columns-1)*hop)]byte
	sound    [span + (columns-1)*hop]float64 // with emphasis
}

func newSpectrogram() *spectrogram {
	edges := dsp.Slaney.Edges(lowest, highest, bands)
	return &spectrogram{
		mel:      dsp.NewUnitAreaMelBank(edges, float64(speech.SampleRate)/span),
		spectrum: dsp.NewSpectrum(dsp.PeriodicHann(span), span),
	}
}

// fill fills the window that starts at a column. If the sound is shorter than a window, its last column repeats.
func (l *spectrogram) fill(w *window, samples *io.SectionReader, start int) error {
	last := min(columns, columnsOf(samples.Size()/2)-start) - 1
	if err := l.read(samples, start*hop-span/2, span+last*hop); err != nil {
		return err
	}
	for c := range columns {
		if c <= last {
			l.column(w, c)
			continue
		}
		for b := range bands {
			w[b*columns+c] = w[b*columns+last]
		}
	}
	return nil
}

// read fills sound with n samples, from the sample with the index from on. Beyond its ends the sound is reflected after the
// emphasis, as in the published code. The emphasis of the first sample is computed as if there were no sample before it. Either
// there is none, or the sample is the first of a window and has a weight of 0.
func (l *spectrogram) read(samples *io.SectionReader, from, n int) error {
	sound, total := l.sound[:n], int(samples.Size()/2)
	if total == 0 {
		clear(sound)
		return nil
	}
	first, end := max(from, 0), min(from+n, total)
	data := l.bytes[:2*(end-first)]
	if _, err := samples.ReadAt(data, int64(2*first)); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read speech: %w", err)
	}
	inside := sound[first-from : end-from]
	dsp.Decode(inside, data)
	dsp.Emphasize(inside, emphasis, 0)
	for k := range sound {
		if i := from + k; i < first || i >= end {
			sound[k] = sound[reflect(i, total)-from]
		}
	}
	return nil
}

// reflect returns the index of the sample that is at index i if n samples are reflected at their ends.
func reflect(i, n int) int {
	if n < 2 {
		return 0
	}
	period := 2 * (n - 1)
	i = (i%period + period) % period
	return min(i, period-i)
}

// column computes one column of the window.
func (l *spectrogram) column(w *window, c int) {
	amplitudes := l.spectrum.Power(l.sound[c*hop : c*hop+span])
	for k, power := range amplitudes {
		amplitudes[k] = math.Sqrt(power)
	}
	var mel [bands]float64
	l.mel.Apply(mel[:], amplitudes)
	for b, amplitude := range mel {
		w[b*columns+c] = scale(amplitude)
	}
}

// scale returns the network's value of an amplitude: -4 up to -80 dB, and 4 from 20 dB on.
func scale(amplitude float64) float32 {
	dB := 2*dsp.Decibels(max(amplitude, leastAmplitude)) - referenceLevel
	return float32(min(max(2*mostValue*(dB-leastLevel)/-leastLevel-mostValue, -mostValue), mostValue))
}
