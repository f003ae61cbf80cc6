// Package speech computes the articulation of a speech track: the movements of a mouth that says it.
//
// A small network computes it. The programs in the folder training trained the network on synthetic
// speech and on people who read aloud, whose phones are known.
package speech

import (
	"bufio"
	"fmt"
	"io"

	"lipsync/internal/signal/dsp"
)

const (
	// SampleRate is the rate of the samples that Read takes, in Hz.
	SampleRate = 16000
	// HopRate is the number of hops a second.
	HopRate = 100

	hop    = SampleRate / HopRate // samples: 10 ms
	window = 400                  // samples: 25 ms
)

// Speech holds the features of a speech track, for each hop of 10 ms.
type Speech struct {
	blocks []*[blockHops]hopFeatures
	n      int // number of hops
}

// blockHops is the number of hops in a block of memory: a slice of all hops would be copied as it grows, which takes three times their memory.
const blockHops = 4096

// at returns the features of a hop.
func (s *Speech) at(hop int) *hopFeatures { return &s.blocks[hop/blockHops][hop%blockHops] }

// add appends the features of a hop.
func (s *Speech) add(h hopFeatures) {
	if s.n%blockHops == 0 {
		s.blocks = append(s.blocks, new([blockHops]hopFeatures))
	}
	s.n++
	*s.at(s.n - 1) = h
}

// Read analyses 16-bit little-endian mono samples at SampleRate until EOF. The result takes 164 bytes
// for each 10 ms.
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
		s.add(a.features(frame))
		copy(frame, frame[hop:])
	}
}

// Seconds returns the length of the track, to a hop.
func (s *Speech) Seconds() float64 { return float64(s.n) / HopRate }

// Loudness returns for each hop the level in dB of the frequencies up to 3000 Hz, where a voice is.
func (s *Speech) Loudness() []float32 {
	out := make([]float32, s.n)
	for i := range out {
		out[i] = s.at(i).level
	}
	return out
}

// levelSmooth is the standard deviation of the filter of LevelsAt, in hops: an eighth of a second.
const levelSmooth = HopRate / 8

// LevelsAt returns the loudness in dB around the middle of each of the frames, averaged over about a
// quarter of a second. Beyond the end of the track it is that of digital silence.
func (s *Speech) LevelsAt(fps float64, frames []int) []float32 {
	level := dsp.Gaussian(s.Loudness(), levelSmooth)
	out := make([]float32, len(frames))
	for i, f := range frames {
		out[i] = leastLevel
		if hop := int((float64(f) + .5) / fps * HopRate); hop < len(level) {
			out[i] = level[hop]
		}
	}
	return out
}
