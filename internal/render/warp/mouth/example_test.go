package mouth

import (
	"image"
	"testing"

	"lipsync/internal/signal/geom"
)

// TestEvenRectangles checks the rectangle of the frame that holds a region.
func TestEvenRectangles(t *testing.T) {
	for _, c := range []struct {
		to   geom.Similarity
		want image.Rectangle
	}{
		{to: geom.Similarity{A: 10}, want: image.Rect(0, 0, 12, 22)},
		{to: geom.Similarity{A: 10, X: .5, Y: 1.5}, want: image.Rect(0, 0, 12, 22)},
		{to: geom.Similarity{B: 10}, want: image.Rect(-20, 0, 2, 12)},
		{to: geom.Similarity{A: 10, X: -7, Y: -7}, want: image.Rect(-8, -8, 4, 14)},
	} {
		if got := bounds(c.to, region{right: 1, bottom: 2}); got != c.want {
			t.Errorf("%+v: got %v, want %v", c.to, got, c.want)
		}
	}
}
