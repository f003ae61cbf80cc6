package detection

import (
	"encoding/binary"
	"math"
	"testing"

	"lipsync/internal/signal/geom"
)

// numbers returns n floats that are read from the bytes. If there are fewer, they repeat.
func numbers(b []byte, n int) []float32 {
	numbers := make([]float32, n)
	for i := range numbers {
		if len(b) >= 4 {
			at := 4 * i % (len(b) / 4 * 4)
			numbers[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[at:]))
		}
	}
	return numbers
}

// bytesOf returns the bytes from which numbers reads all.
func bytesOf(all ...float64) (b []byte) {
	for _, x := range all {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)))
	}
	return b
}

func finite(all ...float32) bool {
	for _, x := range all {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return false
		}
	}
	return true
}

// FuzzBoxes checks that any outputs of a user's network become a bounded number of boxes, and
// that their sides and places are finite.
func FuzzBoxes(f *testing.F) {
	f.Add(bytesOf(0, 1, .2), bytesOf(.1, .1, .5, .6))
	f.Add(bytesOf(math.NaN(), math.Inf(1), .9), bytesOf(math.NaN(), 0, 1, math.Inf(1), -1e30, 1e-40, .5))
	f.Add(bytesOf(.8), bytesOf(1e38, 1e38, 2e38, 2e38))
	f.Fuzz(func(t *testing.T, scores, boxes []byte) {
		const rows = 100
		n := boxNetwork{width: 320, height: 240}
		found := found(n.candidates(numbers(scores, 2*rows), numbers(boxes, 4*rows), 8))
		if len(found) > mostFaces {
			t.Errorf("got %d boxes, want at most %d", len(found), mostFaces)
		}
		for _, b := range found {
			if !finite(b.X, b.Y, b.Size) || b.Size < 0 {
				t.Errorf("got %+v", b)
			}
		}
	})
}

// FuzzMesh checks that for any points of a user's network, a face that continues another one has
// finite landmarks.
func FuzzMesh(f *testing.F) {
	f.Add(bytesOf(.3, .3, 0, .7, .7, 0))
	f.Add(bytesOf(math.NaN(), .5, .5, .6))
	f.Add(bytesOf(math.Inf(-1), math.Inf(1), 1e38))
	near := Face{Box: Box{X: 100, Y: 100, Size: 80}}
	to := (&mesh{side: 192}).crop(near)
	f.Fuzz(func(t *testing.T, points []byte) {
		face := (&mesh{side: 192}).face(numbers(points, 3*leastVertices), to)
		if !face.continues(near.Box) {
			return
		}
		for _, p := range append(face.Landmarks[:], geom.Point(face.Box.Centre())) {
			if !finite(p.X, p.Y) {
				t.Errorf("got %+v", face)
			}
		}
	})
}
