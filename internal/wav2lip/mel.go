package wav2lip

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/dsp/fourier"

	"lipsync/internal/speech"
)

// The published spectrogram: 80 mel bands from 55 to 7600 Hz, 80 columns a
// second, each of 50 ms of sound.
const (
	bands      = 80
	columns    = 16 // that the network hears at once
	columnRate = speech.SampleRate / hop
	hop        = 200 // samples
	span       = 800 // samples of a column
	emphasis   = .97
	lowest     = 55   // Hz
	highest    = 7600 // Hz
)

// window is what the network hears for one frame: for each band, low to high,
// its values in the columns, -4 for silence to 4.
type window [bands * columns]float32

// windowStart returns the first column of a frame's window, of so many columns
// in all. Frames at the end and after it share the last window.
func windowStart(frame int, fps float64, columnsInAll int) int {
	start := int(float64(frame) * (columnRate / fps)) // rounds as the reference does
	return max(min(start, columnsInAll-columns), 0)
}

// columnsOf returns how many columns so many samples make.
func columnsOf(samples int64) int { return int(samples/hop) + 1 }

// filterbank is what all columns are made with.
type filterbank struct {
	hann    [span]float64
	filters [bands]filter
}

// filter is a triangle over the bins of the transform.
type filter struct {
	first   int
	weights []float64
}

func newFilterbank() *filterbank {
	b := &filterbank{}
	for i := range b.hann {
		b.hann[i] = .5 - .5*math.Cos(2*math.Pi*float64(i)/span)
	}
	low, high := toMel(lowest), toMel(highest)
	edge := func(i int) float64 { return fromMel(low + (high-low)*float64(i)/(bands+1)) }
	for i := range b.filters {
		b.filters[i] = newFilter(edge(i), edge(i+1), edge(i+2))
	}
	return b
}

// newFilter makes a triangle between frequencies in Hz whose area is one.
func newFilter(left, centre, right float64) (f filter) {
	const binWidth = float64(speech.SampleRate) / span
	f.first = int(left/binWidth) + 1
	for k := f.first; float64(k)*binWidth < right; k++ {
		hz := float64(k) * binWidth
		slope := min((hz-left)/(centre-left), (right-hz)/(right-centre))
		f.weights = append(f.weights, slope*2/(right-left))
	}
	return f
}

// The mel scale of Slaney's "Auditory Toolbox" (1998): linear up to 1 kHz, 27
// steps to each factor of 6.4 above.
const melStep, melKnee = 200. / 3, 15

func toMel(hz float64) float64 {
	if hz < melKnee*melStep {
		return hz / melStep
	}
	return melKnee + 27*math.Log(hz/(melKnee*melStep))/math.Log(6.4)
}

func fromMel(mel float64) float64 {
	if mel < melKnee {
		return mel * melStep
	}
	return melKnee * melStep * math.Pow(6.4, (mel-melKnee)/27)
}

// listener computes windows straight from the samples: a window costs less than
// a hundredth of what the network does with it, and so none is kept.
type listener struct {
	*filterbank
	fft        *fourier.FFT
	bytes      [2 * (1 + span + (columns-1)*hop)]byte
	sound      [span + (columns-1)*hop]float64 // with emphasis
	part       [span]float64
	bins       []complex128
	amplitudes [span/2 + 1]float64
}

func newListener(b *filterbank) *listener {
	return &listener{filterbank: b, fft: fourier.NewFFT(span), bins: make([]complex128, span/2+1)}
}

// listen fills the window that starts at a column. Of a sound that is shorter
// than a window the last column repeats.
func (l *listener) listen(w *window, samples *io.SectionReader, start int) error {
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

// read fills sound with n samples from one on. Beyond its ends the sound is
// reflected, as the reference does it: after the emphasis.
func (l *listener) read(samples *io.SectionReader, from, n int) error {
	total := int(samples.Size() / 2)
	first, end := max(from-1, 0), min(from+n, total)
	data := l.bytes[:2*(end-first)]
	if _, err := samples.ReadAt(data, int64(2*first)); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read speech: %w", err)
	}
	at := func(i int) float64 {
		if i < 0 || i >= total {
			return 0
		}
		return float64(int16(binary.LittleEndian.Uint16(data[2*(i-first):]))) / (1 << 15)
	}
	for k := range l.sound[:n] {
		i := reflect(from+k, total)
		l.sound[k] = at(i) - emphasis*at(i-1)
	}
	return nil
}

// reflect folds an index at the ends of n samples until it is inside.
func reflect(i, n int) int {
	if n < 2 {
		return 0
	}
	period := 2 * (n - 1)
	i = (i%period + period) % period
	return min(i, period-i)
}

// column computes one column of the window.
func (l *listener) column(w *window, c int) {
	for i, h := range l.hann {
		l.part[i] = l.sound[c*hop+i] * h
	}
	for k, v := range l.fft.Coefficients(l.bins, l.part[:]) {
		l.amplitudes[k] = math.Sqrt(real(v)*real(v) + imag(v)*imag(v))
	}
	for b, f := range l.filters {
		var sum float64
		for k, weight := range f.weights {
			sum += weight * l.amplitudes[f.first+k]
		}
		w[b*columns+c] = scale(sum)
	}
}

// scale brings -100 dB to 0 dB, of an amplitude that is 20 dB too loud, to -4
// to 4.
func scale(amplitude float64) float32 {
	dB := 20*math.Log10(max(amplitude, 1e-5)) - 20
	return float32(min(max(8*(dB+100)/100-4, -4), 4))
}
