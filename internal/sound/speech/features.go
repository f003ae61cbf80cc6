package speech

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"

	"lipsync/internal/signal/dsp"
)

// These constants define the features. The networks were trained with them.
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

// featureBytes is the size of the features of a hop in a file.
const featureBytes = 4 * (bands + 1)

// append appends the features to b, as they are in a file: little-endian floats.
func (h *hopFeatures) append(b []byte) []byte {
	for _, v := range h.mel {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(h.level))
}

// read sets the features to those in b.
func (h *hopFeatures) read(b []byte) {
	number := func(i int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])) }
	for i := range h.mel {
		h.mel[i] = number(i)
	}
	h.level = number(bands)
}

// blockHops is the number of hops that a featureReader reads at once.
const blockHops = 256

// featureReader reads features from a file, of hops that come one after another, more or less. After an error all features are 0.
type featureReader struct {
	file  *os.File
	block int // index of the block that is read; -1 before the first
	bytes [blockHops * featureBytes]byte
	hop   hopFeatures
	err   error
}

func newFeatureReader(file *os.File) *featureReader { return &featureReader{file: file, block: -1} }

// at returns the features of a hop, until the next call.
func (r *featureReader) at(hop int) *hopFeatures {
	if block := hop / blockHops; block != r.block && r.err == nil {
		r.block = block
		n, err := r.file.ReadAt(r.bytes[:], int64(block)*int64(len(r.bytes)))
		if err == io.EOF && n > hop%blockHops*featureBytes { // the last block
			err = nil
		}
		if err != nil {
			clear(r.bytes[:])
			r.err = fmt.Errorf("read the features of speech: %w", err)
		}
	}
	r.hop.read(r.bytes[hop%blockHops*featureBytes:])
	return &r.hop
}
