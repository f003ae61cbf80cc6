package pixels

import (
	"image"
	"testing"

	"lipsync/internal/signal/geom"
)

// TestChroma compares both ways to read chroma with values that grow by one a pixel
// of chroma, and with each other.
func TestChroma(t *testing.T) {
	f := image.NewYCbCr(image.Rect(20, 10, 60, 40), image.YCbCrSubsampleRatio420)
	for y := range 15 {
		for x := range 20 {
			f.Cb[y*f.CStride+x], f.Cr[y*f.CStride+x] = uint8(60+2*x+y), uint8(180-x-3*y)
		}
	}
	for y := float32(10.5); y <= 38.5; y += .7 {
		for x := float32(20.5); x <= 58.5; x += .9 {
			q := geom.Point{X: x, Y: y}
			u, v := (x-20.5)/2, (y-10.5)/2 // a pixel of chroma is in the middle of four of luma
			cb, cr := ChromaAt(f, q)
			if wantB, wantR := 60+2*u+v, 180-u-3*v; distance(cb, wantB) > 1e-3 || distance(cr, wantR) > 1e-3 {
				t.Fatalf("at %v: got %g, %g, want %g, %g", q, cb, cr, wantB, wantR)
			}
		}
	}
	for _, q := range []geom.Point{{X: 30, Y: 20}, {X: 33.3, Y: 21.7}, {X: 20, Y: 10}, {X: 59, Y: 39}, {X: -50, Y: 25}, {X: 500, Y: 500}} {
		if _, cr := ChromaAt(f, q); cr != CrAt(f, q) {
			t.Errorf("at %v: got Cr %g, and %g by itself", q, cr, CrAt(f, q))
		}
	}
}
