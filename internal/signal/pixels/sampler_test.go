package pixels

import (
	"image"
	"testing"

	"lipsync/internal/signal/geom"
)

// TestSquare reads a turned square of a frame whose colours change evenly, from black to white and beyond the border. Each pixel must be as RGB has it at its place.
func TestSquare(t *testing.T) {
	frame := image.NewYCbCr(image.Rect(0, 0, 80, 60), image.YCbCrSubsampleRatio420)
	for i := range frame.Y {
		frame.Y[i] = uint8(min(max(4*(i%80)+i/80-30, 0), 255))
	}
	for i := range frame.Cb {
		frame.Cb[i], frame.Cr[i] = uint8(120+i%40), uint8(140-i/40)
	}
	const side = 8
	for _, c := range []struct{ scale, x float32 }{{.5, 66}, {3, 66}, {3, 30}, {1, 2}} {
		at := geom.Similarity{A: .8 * c.scale, B: .6 * c.scale, X: c.x, Y: 20}
		s := NewSampler(frame, c.scale)
		var got [3][side * side]float32
		s.Square(image.Rect(0, 0, side, side), side, at, got[0][:], got[1][:], got[2][:])
		for i := range side * side {
			x, y, z := s.RGB(at.Apply(geom.Point{X: float32(i % side), Y: float32(i / side)}))
			most := .015 * max(c.scale, 1) // chroma changes by 1 level in 2 pixels
			for k, want := range []float32{x, y, z} {
				if off := got[k][i] - want; off > most || off < -most {
					t.Errorf("scale %g at %g, pixel %d: got %.3f, want %.3f", c.scale, c.x, i, got[k][i], want)
				}
			}
		}
	}
}
