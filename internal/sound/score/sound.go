package score

import (
	"bufio"
	"errors"
	"io"
	"math"

	"gonum.org/v1/gonum/floats"

	"lipsync/internal/signal/dsp"
)

// Sound has the measures of a speech track for each hop of 10 ms.
type Sound struct {
	level []float32 // of the voice, dB: 0 is that of a sound at full scale all the time
	vowel []float32 // the level of wide vowels less that of narrow ones, dB
}

const (
	sampleRate = 16000
	hopRate    = 100 // hops a second
	hop        = sampleRate / hopRate
	window     = 400 // samples: 25 ms
	fftSize    = 512 // samples

	silent = -55 // dB: the loudest speech of a track is louder
	floor  = -90 // dB: lower levels count as this
)

// Bands in Hz. The first formant of a narrow vowel is at 250 to 400 Hz, and that of a wide one at 500 to 900 Hz (Peterson and Barney,
// "Control Methods Used in a Study of the Vowels", 1952).
var voiceBand, wideBand, narrowBand = band{80, 3000}, band{480, 1150}, band{100, 420}

type band struct{ from, to float64 }

// power returns the power of a band of a spectrum.
func (b band) power(spectrum []float64) float64 {
	const bin = float64(sampleRate) / fftSize
	return floats.Sum(spectrum[int(math.Ceil(b.from/bin)):int(math.Ceil(b.to/bin))])
}

// Read measures 16-bit little-endian mono samples at 16 kHz until EOF.
func Read(r io.Reader) (*Sound, error) {
	s := &Sound{}
	weights := dsp.Hann(window)
	spectrum := dsp.NewSpectrum(weights, fftSize)
	full := fftSize * floats.Dot(weights, weights) / 2
	in := bufio.NewReaderSize(r, 1<<16)
	buf, samples := make([]byte, 2*window), make([]float64, window)
	for start := window / 2; ; start = window - hop { // the middle of the first window is the first sample
		n, err := io.ReadFull(in, buf[:2*(window-start)])
		if err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, err
		}
		if n /= 2; n == 0 {
			return s, nil
		}
		dsp.Decode(samples[start:start+n], buf)
		clear(samples[start+n:])
		power := spectrum.Power(samples)
		level := func(b band) float32 { return float32(max(dsp.Decibels(b.power(power)/full), floor)) }
		s.level = append(s.level, level(voiceBand))
		s.vowel = append(s.vowel, level(wideBand)-level(narrowBand))
		copy(samples, samples[hop:])
	}
}

// The opening that a sound asks for, from its level and its vowel.
const (
	loudest, quietest = .95, .05 // quantiles of the level
	levelRange        = 30       // dB: a mouth is closed at so much below the loudest level
	wide, narrow      = .9, .1   // quantiles of the vowel
	levelPower        = 1.3
	vowelShare        = .7
	smooth            = 2 // standard deviation of the filter of the opening, in hops
)

// opening returns a curve of how far the speech opens a mouth, in each frame of the video up to the last of frames, without its slow
// changes. Its scale is that of the speech in these frames. It returns false if nobody speaks there.
func (s *Sound) opening(frames []Frame, fps float64) (curve []float64, ok bool) {
	var level, vowel []float32
	for _, f := range frames {
		to := int(float64(f.Number+1) / fps * hopRate)
		for i := int(float64(f.Number) / fps * hopRate); i < min(to, len(s.level)); i++ {
			level, vowel = append(level, s.level[i]), append(vowel, s.vowel[i])
		}
	}
	top := dsp.Quantile(level, loudest)
	if len(level) == 0 || top < silent {
		return nil, false
	}
	bottom := max(dsp.Quantile(level, quietest), top-levelRange)
	least, most := dsp.Quantile(vowel, narrow), dsp.Quantile(vowel, wide)
	hops := make([]float32, len(s.level))
	for i := range hops {
		loud := min(max((s.level[i]-bottom)/(top-bottom+1e-3), 0), 1.2)
		open := min(max((s.vowel[i]-least)/(most-least+1e-3), 0), 1)
		hops[i] = float32(math.Pow(float64(loud), levelPower)) * (1 - vowelShare + vowelShare*open)
	}
	hops = dsp.Gaussian(hops, smooth)
	curve = make([]float64, frames[len(frames)-1].Number+1)
	for i := range curve {
		curve[i] = float64(dsp.At(hops, (float64(i)+.5)/fps*hopRate))
	}
	quick(curve, slow*fps)
	return curve, true
}
