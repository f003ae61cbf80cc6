package speaker

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"

	"lipsync/internal/signal/dsp"
	"lipsync/internal/sound/speech"
)

// The network takes MFCC as python_speech_features computes them by default, of int16 values.
const (
	coefficients  = 13
	melBands      = 26                      // from 0 Hz to half of the sample rate
	windowSamples = speech.SampleRate / 40  // 25 ms
	hopSamples    = speech.SampleRate / 100 // 10 ms
	hopsPerTick   = 100 / tickRate
	fftSize       = 512 // samples
	preEmphasis   = .97
	lifter        = 22
	fullScale     = 1 << 15 // of int16 values
)

// MFCC computes the MFCC of a sound, one row of coefficients for each 10 ms. It is an io.Writer that
// takes 16-bit little-endian mono samples at speech.SampleRate, as speech.Read does.
//
// It keeps the rows in a file.
type MFCC struct {
	file    *os.File
	out     *bufio.Writer
	rows    int // number of rows in the file
	silence [coefficients]float32
	window  [windowSamples]float64
	filled  int     // number of samples of the window that are set
	last    float64 // the last sample that was set, for the pre-emphasis
	odd     []byte  // the first byte of a sample whose second byte isn't written yet
	mfcc    *dsp.MFCC
}

// NewMFCC returns an MFCC before the first sample, which keeps its rows in an empty file.
func NewMFCC(file *os.File) *MFCC {
	weights := make([]float64, windowSamples)
	for i := range weights {
		weights[i] = fullScale
	}
	edges := dsp.HTK.Edges(0, speech.SampleRate/2, melBands)
	for i, hz := range edges {
		edges[i] = math.Floor((fftSize + 1) * hz / speech.SampleRate) // a whole bin
	}
	m := &MFCC{file: file, out: bufio.NewWriterSize(file, 1<<16), mfcc: dsp.NewMFCC(dsp.NewSpectrum(weights, fftSize), dsp.NewMelBank(edges, 1), coefficients, lifter)}
	m.mfcc.Coefficients(m.silence[:], m.window[:])
	return m
}

// rowBytes is the size of a row in the file.
const rowBytes = 4 * coefficients

// Write analyses samples. It fails only if the file does.
func (m *MFCC) Write(b []byte) (int, error) {
	n := len(b)
	if len(m.odd) > 0 && n > 0 {
		if err := m.add(append(m.odd, b[0])); err != nil {
			return 0, err
		}
		m.odd, b = m.odd[:0], b[1:]
	}
	whole := len(b) / 2 * 2
	m.odd = append(m.odd, b[whole:]...)
	return n, m.add(b[:whole])
}

// add analyses whole samples.
func (m *MFCC) add(b []byte) error {
	for len(b) > 0 {
		samples := m.window[m.filled:min(m.filled+len(b)/2, windowSamples)]
		dsp.Decode(samples, b)
		m.last = dsp.Emphasize(samples, preEmphasis, m.last)
		m.filled += len(samples)
		b = b[2*len(samples):]
		if m.filled == windowSamples {
			var row [coefficients]float32
			m.mfcc.Coefficients(row[:], m.window[:])
			if err := binary.Write(m.out, binary.LittleEndian, row); err != nil {
				return fmt.Errorf("keep the MFCC of a sound: %w", err)
			}
			m.rows++
			m.filled = copy(m.window[:], m.window[hopSamples:])
		}
	}
	return nil
}

// fill fills rows with the coefficients of hops, from one on. After the end they are those of silence. No sample may be written any more.
func (m *MFCC) fill(rows []float32, from int) error {
	known := rows[:coefficients*min(max(m.rows-from, 0), len(rows)/coefficients)]
	for rest := rows[len(known):]; len(rest) > 0; rest = rest[coefficients:] {
		copy(rest, m.silence[:])
	}
	if len(known) == 0 {
		return nil
	}
	if err := m.out.Flush(); err != nil {
		return fmt.Errorf("keep the MFCC of a sound: %w", err)
	}
	if err := binary.Read(io.NewSectionReader(m.file, int64(from)*rowBytes, 4*int64(len(known))), binary.LittleEndian, known); err != nil {
		return fmt.Errorf("read the MFCC of a sound: %w", err)
	}
	return nil
}
