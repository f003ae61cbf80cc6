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

// TestLentLight checks that teeth of an example are as bright as in it through a gap like its own or a larger one, and get darker towards the lips through a smaller one.
func TestLentLight(t *testing.T) {
	const gap = .2
	m := someLips(gap)
	upper, lower := m.inner(m.Middle())
	in := inside{middle: m.Middle(), half: m.Width() / 2, pane: &pane{
		pixels: drawLips(&m, teethColour), to: geom.Similarity{A: canonicalPixels}, lips: &m, share: 1, end: 1, light: 1,
	}}
	// at returns the luma of a place so far below the upper lip, as a share of that in the example, through a gap of so much times its own.
	at := func(below, times float32) float32 {
		open := times * (lower - upper)
		return (in.at(geom.Point{X: m.Middle(), Y: upper + below}, below/open, open, true)[0] - black) / float32(teethColour[0]-black)
	}
	for _, below := range []float32{.03, .1} {
		for _, times := range []float32{1, 1.3} {
			if got := at(below, times); abs(got-1) > .02 {
				t.Errorf("teeth %g below the upper lip have %.2f of their luma through %g times their gap", below, got, times)
			}
		}
	}
	if middle, lip := at(.05, .4), at(.08, .4); middle > .97 || lip > middle-.1 {
		t.Errorf("through a smaller gap teeth have %.2f of their luma in its middle, and %.2f near the lower lip", middle, lip)
	}
}
