// Package half reads and writes floats of half precision: IEEE 754 binary16, with 1 bit for the sign, 5 for the exponent and 10 for the fraction.
package half

import (
	"encoding/binary"
	"math"

	"lipsync/internal/signal/parallel"
)

// part is the number of numbers that one core converts at a time. That takes it a millisecond.
const part = 512 << 10

// Encode writes the numbers to b, which has two bytes for each, little-endian. It rounds to the nearest, ties to even. All cores work on
// many numbers.
func Encode(b []byte, numbers []float32) {
	if len(numbers) <= part {
		encodeAll(b, numbers)
		return
	}
	parallel.Each((len(numbers)+part-1)/part, func(k int) { encodeAll(b[2*part*k:], numbers[part*k:min(part*(k+1), len(numbers))]) })
}

func encodeAll(b []byte, numbers []float32) {
	for i, x := range numbers {
		binary.LittleEndian.PutUint16(b[2*i:], encode(x))
	}
}

// Decode reads the numbers from b, which has two bytes for each, little-endian. All cores work on many numbers.
func Decode(numbers []float32, b []byte) {
	if len(numbers) <= part {
		decodeAll(numbers, b)
		return
	}
	parallel.Each((len(numbers)+part-1)/part, func(k int) { decodeAll(numbers[part*k:min(part*(k+1), len(numbers))], b[2*part*k:]) })
}

func decodeAll(numbers []float32, b []byte) {
	for i := range numbers {
		numbers[i] = decode(binary.LittleEndian.Uint16(b[2*i:]))
	}
}

func encode(x float32) uint16 {
	bits := math.Float32bits(x)
	sign := uint16(bits >> 16 & 0x8000)
	bits &= 1<<31 - 1
	switch {
	case bits > 0x7f800000: // not a number
		return sign | 0x7e00
	case bits >= 0x477ff000: // 65520 and above round to infinity
		return sign | 0x7c00
	case bits < 0x38800000: // below 2^-14, where steps are 2^-24: a float32's at 0.5
		return sign | uint16(math.Float32bits(math.Float32frombits(bits)+0.5)-0x3f000000)
	}
	odd := bits >> 13 & 1
	return sign | uint16((bits+0xfff+odd-112<<23)>>13)
}

func decode(h uint16) float32 {
	sign, rest := uint32(h&0x8000)<<16, uint32(h&0x7fff)
	switch {
	case rest >= 0x7c00: // infinite, or not a number
		return math.Float32frombits(sign | 0x7f800000 | (rest&0x3ff)<<13)
	case rest < 0x0400: // steps of 2^-24
		return math.Float32frombits(sign | math.Float32bits(float32(rest)*0x1p-24))
	}
	return math.Float32frombits(sign | (rest<<13 + 112<<23))
}
