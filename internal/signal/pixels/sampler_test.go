package pixels

import (
	"image"
	"testing"

	"lipsync/internal/signal/geom"
)

// TestSquare reads a turned square of a frame whose colours change evenly, beyond its border too. Each pixel must be as RGB has it at its place.
func TestSquare(t *testing.T) {
	frame := image.NewYCbCr(image.Rect(0, 0, 80, 60), image.YCbCrSubsampleRatio420)
	for i := range frame.Y {
		frame.Y[i] = uint8(60 + i%80 + i/80)
	}
	for i := range frame.Cb {
		frame.Cb[i], frame.Cr[i] = uint8(120+i%40), uint8(140-i/40)
	}
	const side = 8
	for _, c := range []struct {
		scale, x float32
		inside   bool
	}{{.5, 66, true}, {3, 66, false}, {3, 30, true}} {
		at := geom.Similarity{A: .8 * c.scale, B: .6 * c.scale, X: c.x, Y: 20}
		s := NewSampler(frame, c.scale)
		if inside := s.inside(side, at); inside != c.inside {
			t.Errorf("scale %g at %g: inside is %v, want %v", c.scale, c.x, inside, c.inside)
		}
		var got [3][side * side]float32
		s.Square(side, at, got[0][:], got[1][:], got[2][:])
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
