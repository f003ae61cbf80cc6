package dsp

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// A MelScale maps frequencies in Hz to pitch in mel, and back. Equal distances in mel sound equally far apart.
type MelScale struct{ mel, hz func(float64) float64 }

// HTK is the scale of the Hidden Markov Model Toolkit: mel = 2595·log10(1 + Hz/700).
var HTK = MelScale{
	mel: func(hz float64) float64 { return 2595 * math.Log10(1+hz/700) },
	hz:  func(mel float64) float64 { return 700 * (math.Pow(10, mel/2595) - 1) },
}

// Slaney is the scale of Slaney's "Auditory Toolbox" (1998): 15 mel up to 1 kHz, linear, and 27 more for
// each factor of 6.4 above.
var Slaney = MelScale{
	mel: func(hz float64) float64 {
		if hz < 1000 {
			return hz * 15 / 1000
		}
		return 15 + 27*math.Log(hz/1000)/math.Log(6.4)
	},
	hz: func(mel float64) float64 {
		if mel < 15 {
			return mel * 1000 / 15
		}
		return 1000 * math.Pow(6.4, (mel-15)/27)
	},
}

// Edges returns the edges of a MelBank with a number of bands: bands+2 frequencies in Hz, which are evenly spaced on the
// scale from low to high Hz, both included.
func (s MelScale) Edges(low, high float64, bands int) []float64 {
	edges := make([]float64, bands+2)
	for i := range edges {
		share := float64(i) / float64(bands+1)
		edges[i] = s.hz(s.mel(low) + (s.mel(high)-s.mel(low))*share)
	}
	return edges
}

// A MelBank is a bank of triangular filters over the bins of a spectrum. It
// holds only weights that are not zero.
type MelBank []filter

type filter struct {
	first   int // bin
	weights []float64
}

// NewMelBank returns a bank of len(edges)-2 triangles. Triangle i rises from 0
// at edge i to 1 at edge i+1 and falls to 0 at edge i+2. The edges are in the
// unit of binWidth, the distance of the bins. No edge may be below the one before
// it or above the last bin.
func NewMelBank(edges []float64, binWidth float64) MelBank {
	b := make(MelBank, len(edges)-2)
	for i := range b {
		left, centre, right := edges[i], edges[i+1], edges[i+2]
		f := &b[i]
		f.first = int(left/binWidth) + 1
		for at := float64(f.first) * binWidth; at < right; at = float64(f.first+len(f.weights)) * binWidth {
			f.weights = append(f.weights, min((at-left)/(centre-left), (right-at)/(right-centre)))
		}
	}
	return b
}

// NewUnitAreaMelBank returns the bank of NewMelBank with each triangle scaled to
// an area of 1, in the unit of the edges.
func NewUnitAreaMelBank(edges []float64, binWidth float64) MelBank {
	b := NewMelBank(edges, binWidth)
	for i, f := range b {
		floats.Scale(2/(edges[i+2]-edges[i]), f.weights)
	}
	return b
}

// Apply fills bands with the weighted sums of a spectrum.
func (b MelBank) Apply(bands, spectrum []float64) {
	for i, f := range b {
		bands[i] = floats.Dot(f.weights, spectrum[f.first:f.first+len(f.weights)])
	}
}
