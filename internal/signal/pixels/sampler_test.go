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
	for _, scale := range []float32{.5, 3} {
		at := geom.Similarity{A: .8 * scale, B: .6 * scale, X: 66, Y: 20}
		s := NewSampler(frame, scale)
		seen := map[int]bool{}
		s.Square(side, at, func(i int, r, g, b float32) {
			seen[i] = true
			x, y, z := s.RGB(at.Apply(geom.Point{X: float32(i % side), Y: float32(i / side)}))
			const most = .015 // chroma changes by 1 level in 2 pixels
			for _, off := range []float32{r - x, g - y, b - z} {
				if off > most*max(scale, 1) || off < -most*max(scale, 1) {
					t.Errorf("scale %g, pixel %d: got %.3f %.3f %.3f, want %.3f %.3f %.3f", scale, i, r, g, b, x, y, z)
					break
				}
			}
		})
		if len(seen) != side*side {
			t.Errorf("got %d pixels, want %d", len(seen), side*side)
		}
	}
}
