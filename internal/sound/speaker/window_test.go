package speaker

import (
	"math"
	"slices"
	"testing"

	"lipsync/internal/face/alignment"
	"lipsync/internal/test/facetest"
)

// TestKeep checks that scores change step by step from one window to the next, and that ticks without a
// window, or with a score of NaN, are unscored.
func TestKeep(t *testing.T) {
	c, window := New(25, nil), func(score float32) []float32 { return slices.Repeat([]float32{score}, windowTicks) }
	odd := window(21)
	odd[50] = float32(math.NaN())
	c.keep(&Window{from: 10}, window(0))
	c.keep(&Window{from: 90}, odd)
	c.keep(&Window{from: 200}, window(5))
	for tick, want := range map[int]float32{
		9: unscored, 10: 0, 89: 0, 90: 1, 99: 10, 109: 20, 110: 21, 139: 21, 140: unscored, 189: 21, 190: unscored, 199: unscored, 200: 5, 299: 5, 300: unscored,
	} {
		if got := c.score(0, tick); math.Abs(float64(got-want)) > 1e-4 {
			t.Errorf("tick %d: got %g, want %g", tick, got, want)
		}
	}
}

// TestKeepShort checks that the scores of a short window, which sees little, count for less.
func TestKeepShort(t *testing.T) {
	c := New(25, nil)
	c.keep(&Window{}, make([]float32, windowTicks))
	c.keep(&Window{from: 80}, slices.Repeat([]float32{21}, 25))
	for tick, want := range map[int]float32{79: 0, 80: .25, 89: 2.5, 99: 5, 100: 21, 104: 21, 105: unscored} {
		if got := c.score(0, tick); math.Abs(float64(got-want)) > 1e-4 {
			t.Errorf("tick %d: got %g, want %g", tick, got, want)
		}
	}
}

// TestNothingNew checks that a window whose ticks are all in the one before is not scored.
func TestNothingNew(t *testing.T) {
	wall := facetest.Wall(200, 100)
	faces := []alignment.Face{upright(wall, 0, 50, 40, 20), upright(wall, 1, 150, 40, 20)}
	for _, test := range []struct{ frames, complete, left int }{
		{frames: windowTicks - 1, complete: 0, left: 2}, {frames: windowTicks, complete: 2, left: 0},
		{frames: windowTicks + 1, complete: 2, left: 2}, {frames: 2*windowTicks - shared, complete: 4, left: 0},
	} {
		c, complete := New(25, &Network{}), 0
		for range test.frames {
			complete += len(c.Add(alignment.Frame{Faces: faces}))
		}
		if left := len(c.End()); complete != test.complete || left != test.left {
			t.Errorf("%d frames: %d windows and %d at the end, want %d and %d", test.frames, complete, left, test.complete, test.left)
		}
	}
}
