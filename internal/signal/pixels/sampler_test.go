package pixels

import (
	"image"
	"testing"

	"lipsync/internal/signal/geom"
)

// TestSquare reads a turned square of a frame whose colours change evenly, from black to white and beyond the border, and of the smallest frame. Each pixel must be as RGB has it at its place.
func TestSquare(t *testing.T) {
	frame := image.NewYCbCr(image.Rect(0, 0, 80, 60), image.YCbCrSubsampleRatio420)
	for i := range frame.Y {
		frame.Y[i] = uint8(min(max(4*(i%80)+i/80-30, 0), 255))
	}
	for i := range frame.Cb {
		frame.Cb[i], frame.Cr[i] = uint8(120+i%40), uint8(140-i/40)
	}
	const side = 8
	smallest := Copy(frame, image.Rect(66, 20, 68, 22))
	for _, c := range []struct {
		scale, x float32
		frame    *image.YCbCr
	}{{.5, 66, frame}, {3, 66, frame}, {3, 30, frame}, {1, 2, frame}, {.5, 66, smallest}} {
		at := geom.Similarity{A: .8 * c.scale, B: .6 * c.scale, X: c.x, Y: 20}
		s := NewSampler(c.frame, c.scale)
		var got [3][side * side]float32
		s.Square(image.Rect(0, 0, side, side), side, at, got[0][:], got[1][:], got[2][:])
		for i := range side * side {
			x, y, z := s.RGB(at.Apply(geom.Point{X: float32(i % side), Y: float32(i / side)}))
			most := .015 * max(c.scale, 1) // chroma changes by 1 level in 2 pixels
			for k, want := range []float32{x, y, z} {
				if off := got[k][i] - want; off > most || off < -most {
					t.Errorf("scale %g at %g of %v, pixel %d: got %.3f, want %.3f", c.scale, c.x, c.frame.Rect, i, got[k][i], want)
				}
			}
		}
	}
}
