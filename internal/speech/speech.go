// Package speech turns a speech track into what a mouth has to do.
//
// How far the mouth opens is a mean of two readings. One is acoustics by hand:
// a voice is loud, and its first formant high, when the mouth is open (Fant,
// "Acoustic Theory of Speech Production", 1960). The other is a network of 16
// hidden units on mel bands that was fitted to synthetic speech, whose phonemes
// are known, by fit/fit.py; it knows closures and fricatives better.
package speech

import (
	"bufio"
	"fmt"
	"io"
	"math"

	"lipsync/internal/dsp"
)

const (
	// SampleRate is the rate of the samples that Read takes, in Hz.
	SampleRate = 16000
	// HopRate is the rate of what Speech knows, a second.
	HopRate = 100

	hop    = SampleRate / HopRate // samples
	window = 400                  // samples: 25 ms
)

// Speech is what is known of a speech track, for every 10 ms of it.
type Speech struct {
	hops []hopFeatures
}

// Read analyses 16-bit little-endian mono samples at SampleRate until EOF. It
// keeps about 100 bytes for each 10 ms.
func Read(r io.Reader) (*Speech, error) {
	s, a := &Speech{}, newAnalyser()
	in := bufio.NewReaderSize(r, 1<<16)
	buf := make([]byte, 2*window)
	frame := make([]float64, window) // the first half of a window is before the first sample
	for start := window / 2; ; start = window - hop {
		n, err := io.ReadFull(in, buf[:2*(window-start)])
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return nil, fmt.Errorf("speech: %w", err)
		}
		n /= 2
		if n == 0 {
			return s, nil
		}
		dsp.Decode(frame[start:start+n], buf)
		clear(frame[start+n:])
		s.hops = append(s.hops, a.features(frame))
		copy(frame, frame[hop:])
	}
}

// Seconds returns the length of the track, to a hop.
func (s *Speech) Seconds() float64 { return float64(len(s.hops)) / HopRate }

// Loudness returns the level of the voice's frequencies in dB for each hop.
func (s *Speech) Loudness() []float32 {
	out := make([]float32, len(s.hops))
	for i, h := range s.hops {
		out[i] = h.level
	}
	return out
}

// Openings returns how far the mouth is open in the middle of each of n frames,
// 0 closed to 1 wide, a little more where it is loudest.
func (s *Speech) Openings(fps float64, n int) []float32 {
	out := make([]float32, n)
	curve := s.curve()
	for i := range out {
		out[i] = dsp.At(curve, (float64(i)+.5)/fps*HopRate)
	}
	return out
}

// fittedShare is how much the network's reading counts.
const fittedShare = .3

// silent is the level in dB, of the power of a window, under which no one
// speaks: about -55 dBFS.
const silent = -20

// curve returns the opening at each hop.
func (s *Speech) curve() []float32 {
	out := make([]float32, len(s.hops))
	places, said := s.spoken(), &Speech{}
	for _, i := range places {
		said.hops = append(said.hops, s.hops[i])
	}
	if loud := dsp.Quantile(said.Loudness(), .95); loud < silent {
		return out
	}
	acoustic, fitted := said.acoustic(), said.fitted()
	for k, i := range places {
		both := (1-fittedShare)*acoustic[k] + fittedShare*fitted[k]
		out[i] = float32(math.Pow(float64(both), .8)) // lips part early
	}
	return dsp.Gaussian(out, 3.05) // and have weight
}

// spoken returns the hops within a second of a sound. What is taken as loud and
// as wide is a quantile of these: long silences say nothing of a voice.
func (s *Speech) spoken() (hops []int) {
	next := 0
	for i, h := range s.hops {
		if h.level < silent {
			continue
		}
		for next = max(next, i-HopRate); next < min(i+HopRate, len(s.hops)); next++ {
			hops = append(hops, next)
		}
	}
	return hops
}

// acoustic reads the opening from the level and the first formant.
func (s *Speech) acoustic() []float32 {
	level := s.Loudness()
	loud := dsp.Quantile(level, .95)
	quiet := max(dsp.Quantile(level, .05), loud-30)
	energy := make([]float32, len(level))
	var formants []float32
	for i, v := range level {
		energy[i] = min(max((v-quiet)/(loud-quiet+1e-6), 0), 1)
		if energy[i] > .35 {
			formants = append(formants, s.hops[i].formant)
		}
	}
	low, high := dsp.Quantile(formants, .1), dsp.Quantile(formants, .9)
	out := make([]float32, len(level))
	for i, e := range energy {
		f := min(max((s.hops[i].formant-low)/(high-low+1e-6), 0), 1)
		out[i] = float32(math.Pow(float64(e), 1.3)) * (.3 + .7*f)
	}
	return toUnit(dsp.Gaussian(out, 2))
}

// toUnit scales x so that its 97th percentile is 1, and cuts at 1.1.
func toUnit(x []float32) []float32 {
	top := max(dsp.Quantile(x, .97), 1e-6)
	for i, v := range x {
		x[i] = min(max(v/top, 0), 1.1)
	}
	return x
}

// LevelsAt returns the loudness in dB around the middle of each of the frames,
// over a quarter second; far below speech where there is no sound.
func (s *Speech) LevelsAt(fps float64, frames []int) []float32 {
	const nothing = -70 // what digital silence reads
	level := dsp.Gaussian(s.Loudness(), HopRate/8)
	out := make([]float32, len(frames))
	for i, f := range frames {
		out[i] = nothing
		if hop := int((float64(f) + .5) / fps * HopRate); hop < len(level) {
			out[i] = level[hop]
		}
	}
	return out
}
