// Package dsp is signal processing: power spectra, mel filter banks, MFCC,
// decibels, and filters of sequences of numbers.
//
// The Fourier transform is that of gonum, a library that many people use and test. Its general transform takes any
// length. Its transform of radix 4 is five times as fast, and is used for lengths that are 2·4^k.
package dsp

import (
	"math"
	"math/bits"
	"math/cmplx"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
)

// Spectrum computes power spectra of windows of samples. It may be used by one goroutine at a time.
type Spectrum struct {
	weights []float64
	padded  []float64 // the weighted samples, then zeros
	power   []float64

	// For transforms of 2·4^k samples: the samples in pairs, and the factors
	// that make the spectrum of the samples from that of the pairs.
	pairs   []complex128
	factors []complex128

	// For transforms of other lengths.
	general *fourier.FFT
	bins    []complex128
}

// NewSpectrum returns a Spectrum of windows of len(weights) samples. Each sample is multiplied by its
// weight. Zeros follow, up to the n samples of the transform.
func NewSpectrum(weights []float64, n int) *Spectrum {
	s := &Spectrum{weights: weights, padded: make([]float64, n), power: make([]float64, n/2+1)}
	if log2 := bits.Len(uint(n)) - 1; n != 1<<log2 || log2%2 == 0 {
		s.general, s.bins = fourier.NewFFT(n), make([]complex128, n/2+1)
		return s
	}
	s.pairs, s.factors = make([]complex128, n/2), make([]complex128, n/4)
	for i := range s.factors {
		s.factors[i] = cmplx.Rect(.5, -math.Pi/2-2*math.Pi*float64(i+1)/float64(n))
	}
	return s
}

// Power returns the squared magnitudes of the bins 0 to n/2 of the transform of a window. The next call
// overwrites them.
func (s *Spectrum) Power(samples []float64) []float64 {
	floats.MulTo(s.padded[:len(s.weights)], samples, s.weights)
	if s.general != nil {
		for k, c := range s.general.Coefficients(s.bins, s.padded) {
			s.power[k] = real(c)*real(c) + imag(c)*imag(c)
		}
		return s.power
	}
	for i := range s.pairs {
		s.pairs[i] = complex(s.padded[2*i], s.padded[2*i+1])
	}
	fourier.CoefficientsRadix4(s.pairs)
	s.split()
	return s.power
}

// split computes the power from the transform z of the pairs, which has m bins. Let e and o be bin k of the
// transforms of the even and of the odd samples. Then z[k] is e + i·o, and z[m-k] is the conjugate of
// e - i·o. The bins k and m-k of the transform of all samples are e + w·o and the conjugate of e - w·o,
// where w is the k-th power of the n-th root of one.
func (s *Spectrum) split() {
	m := len(s.pairs)
	first := s.pairs[0]
	s.power[0] = (real(first) + imag(first)) * (real(first) + imag(first))
	s.power[m] = (real(first) - imag(first)) * (real(first) - imag(first))
	for i, w := range s.factors {
		k := i + 1
		a, b := s.pairs[k], s.pairs[m-k]
		wo := w * complex(real(a)-real(b), imag(a)+imag(b))
		re, im := (real(a)+real(b))/2, (imag(a)-imag(b))/2
		x, y := re+real(wo), im+imag(wo)
		s.power[k] = x*x + y*y
		x, y = re-real(wo), im-imag(wo)
		s.power[m-k] = x*x + y*y
	}
}

// Hann returns the weights of a symmetric Hann window of n samples, n at least
// 2: the first and the last are 0.
func Hann(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = .5 - .5*math.Cos(2*math.Pi*float64(i)/float64(n-1))
	}
	return w
}

// PeriodicHann returns the weights of a Hann window with a period of n samples:
// the first is 0, and the last is not.
func PeriodicHann(n int) []float64 { return Hann(n + 1)[:n] }
