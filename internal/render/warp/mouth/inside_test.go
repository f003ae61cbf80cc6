package mouth

import (
	"testing"

	"lipsync/internal/signal/geom"
)

// TestLight checks that the drawn inside of an open mouth gets darker towards the lips and the corners.
func TestLight(t *testing.T) {
	const gap = .2
	in := inside{lip: [3]float32{120, 128, 128}, light: relighting{gain: 1, chroma: 1}, teeth: 1, half: .4}
	at := func(aside, below float32) float32 {
		return in.at(geom.Point{X: aside}, below/gap, gap, true)[0] - black
	}
	if lip, below := at(.07, 0), at(.07, .04); lip > .7*below {
		t.Errorf("drawn teeth have a luma of %.0f at the lip, %.0f below it", lip, below)
	}
	if middle, side := at(.07, .03), at(.21, .03); side > .92*middle {
		t.Errorf("drawn teeth have a luma of %.0f at the side, %.0f in the middle", side, middle)
	}
	if dark, lip := at(0, .15), at(0, gap); lip > .8*dark {
		t.Errorf("the drawn dark has a luma of %.0f at the lower lip, %.0f above it", lip, dark)
	}
}
