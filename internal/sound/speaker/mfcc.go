package speaker

import (
	"math"

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
type MFCC struct {
	rows    [][coefficients]float32
	silence [coefficients]float32
	window  [windowSamples]float64
	filled  int     // number of samples of the window that are set
	last    float64 // the last sample that was set, for the pre-emphasis
	odd     []byte  // the first byte of a sample whose second byte isn't written yet
	mfcc    *dsp.MFCC
}

// NewMFCC returns an MFCC before the first sample.
func NewMFCC() *MFCC {
	weights := make([]float64, windowSamples)
	for i := range weights {
		weights[i] = fullScale
	}
	edges := dsp.HTK.Edges(0, speech.SampleRate/2, melBands)
	for i, hz := range edges {
		edges[i] = math.Floor((fftSize + 1) * hz / speech.SampleRate) // a whole bin
	}
	m := &MFCC{mfcc: dsp.NewMFCC(dsp.NewSpectrum(weights, fftSize), dsp.NewMelBank(edges, 1), coefficients, lifter)}
	m.mfcc.Coefficients(m.silence[:], m.window[:])
	return m
}

// Write analyses samples. It never fails.
func (m *MFCC) Write(b []byte) (int, error) {
	n := len(b)
	if len(m.odd) > 0 && n > 0 {
		m.add(append(m.odd, b[0]))
		m.odd, b = m.odd[:0], b[1:]
	}
	whole := len(b) / 2 * 2
	m.add(b[:whole])
	m.odd = append(m.odd, b[whole:]...)
	return n, nil
}

// add analyses whole samples.
func (m *MFCC) add(b []byte) {
	for len(b) > 0 {
		samples := m.window[m.filled:min(m.filled+len(b)/2, windowSamples)]
		dsp.Decode(samples, b)
		m.last = dsp.Emphasize(samples, preEmphasis, m.last)
		m.filled += len(samples)
		b = b[2*len(samples):]
		if m.filled == windowSamples {
			var row [coefficients]float32
			m.mfcc.Coefficients(row[:], m.window[:])
			m.rows = append(m.rows, row)
			m.filled = copy(m.window[:], m.window[hopSamples:])
		}
	}
}

// at returns the coefficients of a hop. After the end they are those of silence.
func (m *MFCC) at(hop int) [coefficients]float32 {
	if hop < len(m.rows) {
		return m.rows[hop]
	}
	return m.silence
}
