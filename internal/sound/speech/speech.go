// Package speech computes the articulation of a speech track: the movements of a mouth that says it.
//
// Two small networks compute it. The programs in the folder training trained them on synthetic speech
// and on people, whose phones are known.
package speech

import (
	"bufio"
	"fmt"
	"io"
	"os"

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

// Speech holds what is known of a speech track, for each hop of 10 ms: its level in memory, and its features in a file.
type Speech struct {
	features *os.File
	levels   []float32 // of each hop: see hopFeatures
}

// Read analyses 16-bit little-endian mono samples at SampleRate until EOF. It writes the features to a file, 164 bytes for each 10 ms, so
// that a long track takes little memory. The file must be empty, and open until the articulation is computed.
func Read(r io.Reader, features *os.File) (*Speech, error) {
	s, a := &Speech{features: features}, newAnalyser()
	in, out := bufio.NewReaderSize(r, 1<<16), bufio.NewWriterSize(features, 1<<16)
	buf, record := make([]byte, 2*window), make([]byte, 0, featureBytes)
	frame := make([]float64, window) // the first half of a window is before the first sample
	for start := window / 2; ; start = window - hop {
		n, err := io.ReadFull(in, buf[:2*(window-start)])
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return nil, fmt.Errorf("speech: %w", err)
		}
		n /= 2
		if n == 0 {
			if err := out.Flush(); err != nil {
				return nil, fmt.Errorf("keep the features of speech: %w", err)
			}
			return s, nil
		}
		dsp.Decode(frame[start:start+n], buf)
		clear(frame[start+n:])
		h := a.features(frame)
		s.levels = append(s.levels, h.level)
		_, _ = out.Write(h.append(record)) // Flush tells of errors
		copy(frame, frame[hop:])
	}
}

// Seconds returns the length of the track, to a hop.
func (s *Speech) Seconds() float64 { return float64(len(s.levels)) / HopRate }

// levelSmooth is the standard deviation of the filter of LevelsAt, in hops: an eighth of a second.
const levelSmooth = HopRate / 8

// LevelsAt returns the level in dB of the frequencies up to 3000 Hz, where a voice is, around the middle of each of the frames in [from, to),
// averaged over about a quarter of a second. Beyond the end of the track it is that of digital silence.
func (s *Speech) LevelsAt(fps float64, from, to int) []float32 {
	hopOf := func(frame int) int { return min(int((float64(frame)+.5)/fps*HopRate), len(s.levels)) }
	first, end := hopOf(from), min(hopOf(to)+1, len(s.levels))
	level := dsp.GaussianOf(s.levels, levelSmooth, first, end)
	out := make([]float32, to-from)
	for i := range out {
		out[i] = leastLevel
		if hop := hopOf(from + i); hop < end {
			out[i] = level[hop-first]
		}
	}
	return out
}
