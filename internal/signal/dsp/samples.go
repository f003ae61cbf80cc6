package dsp

import (
	"encoding/binary"
	"math"
)

// Decode fills samples from b, which has 16-bit little-endian integers, at least one for each sample. It scales
// them from full scale to -1 to 1.
func Decode(samples []float64, b []byte) {
	for i := range samples {
		samples[i] = float64(int16(binary.LittleEndian.Uint16(b[2*i:]))) / (1 << 15)
	}
}

// Emphasize subtracts from each sample the one before it times factor. before is the sample before the
// first one. Emphasize returns the last sample without the emphasis.
func Emphasize(samples []float64, factor, before float64) float64 {
	for i, x := range samples {
		samples[i] = x - factor*before
		before = x
	}
	return before
}

// Decibels returns a power in dB: 0 dB is a power of 1.
func Decibels(power float64) float64 { return 10 * math.Log10(power) }

// At returns the value of a curve at a place, by linear interpolation between its samples. Beyond the samples
// it is 0.
func At(curve []float32, at float64) float32 {
	i := int(math.Floor(at))
	if i < 0 || i+1 >= len(curve) {
		return 0
	}
	f := float32(at - float64(i))
	return curve[i] + (curve[i+1]-curve[i])*f
}
