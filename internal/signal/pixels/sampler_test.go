package pixels

import (
	"image"
	"math/rand/v2"
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

// TestSquareOfNoise reads a square as large as a network's picture of a frame whose pixels have nothing to do with each other. Each pixel must be as
// floating-point numbers give it, within three levels: shares of pixels are cut off.
func TestSquareOfNoise(t *testing.T) {
	const side = 192
	r := rand.New(rand.NewPCG(1, 2))
	frame := image.NewYCbCr(image.Rect(0, 0, 400, 300), image.YCbCrSubsampleRatio420)
	for _, plane := range [][]uint8{frame.Y, frame.Cb, frame.Cr} {
		for i := range plane {
			plane[i] = uint8(100 + r.IntN(50))
		}
	}
	for _, from := range []geom.Point{{X: 60, Y: 60}, {X: 300, Y: -40}} { // beyond the left and the lower border, and the upper and the right one
		at := geom.Similarity{A: .8, B: .6, X: from.X, Y: from.Y}
		s := NewSampler(frame, 1)
		var got [3][side * side]float32
		s.Square(image.Rect(0, 0, side, side), side, at, got[0][:], got[1][:], got[2][:])
		for y := 0; y < side; y += 2 {
			for x := 0; x < side; x += 2 {
				q := at.Apply(geom.Point{X: float32(x) + .5, Y: float32(y) + .5})
				cb, cr := s.blue.bilinearAtBorder(q.X/2-.25, q.Y/2-.25), s.red.bilinearAtBorder(q.X/2-.25, q.Y/2-.25)
				for i := range 4 {
					x, y := x+i%2, y+i/2
					r, g, b := ToRGB(s.Luma(at.Apply(geom.Point{X: float32(x), Y: float32(y)})), cb, cr)
					for k, want := range []float32{r, g, b} {
						if off := got[k][y*side+x] - want; off > 3./255 || off < -3./255 {
							t.Fatalf("at %v: pixel (%d, %d), plane %d: got %.4f, want %.4f", from, x, y, k, got[k][y*side+x], want)
						}
					}
				}
			}
		}
	}
}
