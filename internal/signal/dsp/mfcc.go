package dsp

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// leastPower replaces a power of 0, which has no logarithm. It is the epsilon of float64, as in
// python_speech_features.
const leastPower = 0x1p-52

// MFCC computes mel-frequency cepstral coefficients of windows of samples. It may be used by one goroutine
// at a time.
type MFCC struct {
	spectrum *Spectrum
	bank     MelBank
	waves    [][]float64 // of the DCT-II, with the lifter's gain: coefficients × bands
	bands    []float64
}

// NewMFCC returns an MFCC with a number of coefficients. The lifter raises coefficient i
// to 1 + lifter/2·sin(π·i/lifter) times its value.
func NewMFCC(spectrum *Spectrum, bank MelBank, coefficients int, lifter float64) *MFCC {
	m := &MFCC{spectrum: spectrum, bank: bank, waves: dct(coefficients, len(bank)), bands: make([]float64, len(bank))}
	for i, wave := range m.waves {
		floats.Scale(1+lifter/2*math.Sin(math.Pi*float64(i)/lifter), wave)
	}
	return m
}

// dct returns the first rows of the orthonormal DCT-II of n numbers.
func dct(rows, n int) [][]float64 {
	waves := make([][]float64, rows)
	for i := range waves {
		waves[i] = make([]float64, n)
		gain := math.Sqrt(2 / float64(n))
		if i == 0 {
			gain = math.Sqrt(1 / float64(n))
		}
		for k := range waves[i] {
			waves[i][k] = gain * math.Cos(math.Pi*float64(i)*(float64(k)+.5)/float64(n))
		}
	}
	return waves
}

// Coefficients fills dst with the coefficients of a window of samples. The first one is the logarithm of
// the window's energy. All powers are divided by the length of the transform.
func (m *MFCC) Coefficients(dst []float32, samples []float64) {
	power := m.spectrum.Power(samples)
	length := float64(len(m.spectrum.padded))
	m.bank.Apply(m.bands, power)
	for i, p := range m.bands {
		m.bands[i] = logarithm(p / length)
	}
	for i, wave := range m.waves {
		dst[i] = float32(floats.Dot(wave, m.bands))
	}
	dst[0] = float32(logarithm(floats.Sum(power) / length))
}

func logarithm(power float64) float64 { return math.Log(max(power, leastPower)) }
