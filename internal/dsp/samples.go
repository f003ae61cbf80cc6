package dsp

import (
	"encoding/binary"
	"math"
)

// Decode fills samples from 16-bit little-endian ones. Full scale becomes -1 to
// 1. b holds at least two bytes for each sample.
func Decode(samples []float64, b []byte) {
	for i := range samples {
		samples[i] = float64(int16(binary.LittleEndian.Uint16(b[2*i:]))) / (1 << 15)
	}
}

// Emphasize subtracts from each sample the one before it, times factor. before
// is the sample before the first. It returns the last sample as it was.
func Emphasize(samples []float64, factor, before float64) float64 {
	for i, x := range samples {
		samples[i] = x - factor*before
		before = x
	}
	return before
}

// Decibels returns a power in dB.
func Decibels(power float64) float64 { return 10 * math.Log10(power) }

// At returns the value of a curve between its samples, and 0 outside of them.
func At(curve []float32, at float64) float32 {
	i := int(math.Floor(at))
	if i < 0 || i+1 >= len(curve) {
		return 0
	}
	f := float32(at - float64(i))
	return curve[i] + (curve[i+1]-curve[i])*f
}
