package detection

import (
	"encoding/binary"
	"image"
	"math"
	"testing"

	"lipsync/internal/signal/geom"
)

// floats returns n floats that are read from the bytes. If there are fewer, they repeat.
func floats(b []byte, n int) []float32 {
	floats := make([]float32, n)
	for i := range floats {
		if len(b) >= 4 {
			at := 4 * i % (len(b) / 4 * 4)
			floats[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[at:]))
		}
	}
	return floats
}

// bytesOf returns the bytes from which floats reads all.
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
		found := found(n.candidates(floats(scores, 2*rows), floats(boxes, 4*rows), 8))
		if len(found) > mostFaces {
			t.Errorf("got %d boxes, want at most %d", len(found), mostFaces)
		}
		for _, f := range found {
			if b := f.Box; !finite(b.X, b.Y, b.Size) || b.Size < 0 {
				t.Errorf("got %+v", b)
			}
		}
	})
}

// FuzzSearched checks the same for the outputs of the network of the product.
func FuzzSearched(f *testing.F) {
	f.Add(bytesOf(3, -3), bytesOf(0, 0, 40, 50, -5, -5, 5, -5))
	f.Add(bytesOf(math.NaN(), math.Inf(1)), bytesOf(math.NaN(), 0, 1, math.Inf(1), -1e30, 1e-40, .5))
	f.Add(bytesOf(9), bytesOf(1e38, 1e38, 2e38, 2e38))
	to := framed(image.Rect(0, 0, 640, 360), 1)
	f.Fuzz(func(t *testing.T, scores, anchors []byte) {
		const rows = searchCells * searchCells
		found := facesOf(suppress(searched(floats(anchors, searchValues*rows), floats(scores, rows), leastSure)), to)
		if len(found) > mostFaces {
			t.Errorf("got %d faces, want at most %d", len(found), mostFaces)
		}
		for _, f := range found {
			p, q := f.Landmarks[LeftPupil], f.Landmarks[RightPupil]
			if !finite(f.Box.X, f.Box.Y, f.Box.Size, p.X, p.Y, q.X, q.Y) || f.Box.Size < 0 {
				t.Errorf("got %+v", f)
			}
		}
	})
}

// FuzzMesh checks that for any points of a user's network, a face that continues another one has
// finite landmarks and lips.
func FuzzMesh(f *testing.F) {
	f.Add(bytesOf(.3, .3, 0, .7, .7, 0), bytesOf(.4, .5))
	f.Add(bytesOf(math.NaN(), .5, .5, .6), bytesOf(math.NaN()))
	f.Add(bytesOf(math.Inf(-1), math.Inf(1), 1e38), bytesOf(1e38))
	near := Face{Box: Box{X: 100, Y: 100, Size: 80}}
	m := &mesh{side: 192, points: 0, lips: 1, flag: 2}
	to := m.crop(near)
	f.Fuzz(func(t *testing.T, points, lips []byte) {
		face := m.face([][]float32{floats(points, 3*leastVertices), floats(lips, 2*len(lipVertices)), {1}}, to)
		if !face.continues(near.Box) || !face.whole() {
			return
		}
		all := append(face.Landmarks[:], face.Box.Centre())
		face.Lips.each(func(p *geom.Point) { all = append(all, *p) })
		for _, p := range all {
			if !finite(p.X, p.Y) {
				t.Errorf("got %+v", face)
			}
		}
	})
}
