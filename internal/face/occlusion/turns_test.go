package occlusion

import (
	"image"
	"testing"

	"lipsync/internal/signal/geom"
)

// TestTurnsAlong counts the turns of rows of luma, of which each value is a pixel.
func TestTurnsAlong(t *testing.T) {
	for _, c := range []struct {
		luma  []uint8
		turns int
	}{
		{[]uint8{120, 120, 120}, 0},
		{[]uint8{120, 60, 120}, 0},
		{[]uint8{180, 100, 20}, 1}, // a jaw over a dark shirt
		{[]uint8{180, 100, 20, 95, 180}, 2},
		{[]uint8{200, 110, 20, 95, 200, 110, 20}, 3},
		{[]uint8{200, 110, 20, 95, 20, 95, 20, 95, 20}, 7},
		{[]uint8{120, 20, 220, 20, 120}, 4}, // a stroke with a rim
	} {
		f := image.NewYCbCr(image.Rect(0, 0, len(c.luma), 1), image.YCbCrSubsampleRatio420)
		copy(f.Y, c.luma)
		if n := turnsAlong(f, geom.Point{}, float32(len(c.luma)-1)); n != c.turns {
			t.Errorf("%v: got %d turns, want %d", c.luma, n, c.turns)
		}
	}
}
