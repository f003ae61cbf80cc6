package mouth

import (
	"testing"

	"lipsync/internal/signal/geom"
)

// TestLight checks that the drawn inside of an open mouth gets darker towards the lips and the corners, but no darker than real ones.
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
	for _, below := range []float32{0, .1, .15, gap} { // the darkest of real mouths is .3 of the lips
		if luma := at(.21, below); luma < .29*(120-black) {
			t.Errorf("the drawn inside has a luma of %.0f at %g below the upper lip", luma, below)
		}
	}
}
