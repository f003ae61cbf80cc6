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
	for below, share := range map[float32]float32{.01: .71, .02: .83, .03: .9, .04: .94} {
		if got := lit(below, gap-below, behindLips) / lit(.07, gap-.07, behindLips); abs(got-share) > .015 {
			t.Errorf("%g below the upper lip falls %.3f of the light at .07, want %.2f", below, got, share)
		}
	}
	for _, below := range []float32{0, .1, .15, gap} { // the darkest of real mouths is .3 of the lips
		if luma := at(.21, below); luma < .29*(120-black) {
			t.Errorf("the drawn inside has a luma of %.0f at %g below the upper lip", luma, below)
		}
	}
}

// TestLentLight checks that teeth of an example are as bright as in it between lips like its own or farther apart, and get darker towards a lip that comes
// nearer, more so towards the upper one.
func TestLentLight(t *testing.T) {
	const gap = .2
	m := someLips(gap)
	upper, lower := m.inner(m.Middle())
	in := inside{middle: m.Middle(), half: m.Width() / 2, pane: &pane{
		pixels: drawLips(&m, teethColour), to: geom.Similarity{A: canonicalPixels}, lips: &m, share: 1, end: 1, light: 1,
	}}
	// at returns the luma of a place, as a share of that in the example, if the lips come nearer by these lengths.
	at := func(y, down, up float32) float32 {
		open := lower - up - upper - down
		return (in.at(geom.Point{X: m.Middle(), Y: y}, (y-upper-down)/open, open, true)[0] - black) / float32(teethColour[0]-black)
	}
	for _, y := range []float32{upper + .03, (upper + lower) / 2, lower - .03} {
		for _, wider := range []float32{0, .05} {
			if got := at(y, -wider, -wider); abs(got-1) > .02 {
				t.Errorf("teeth at %.2f have %.2f of their luma between lips that are %g farther away", y, got, wider)
			}
		}
	}
	const by, near = .08, .015
	below, above := at(upper+by+near, by, 0), at(lower-by-near, 0, by)
	if below > .8 || above > .97 || above < below+.1 {
		t.Errorf("teeth have %.2f of their luma below the upper lip, %.2f above the lower lip", below, above)
	}
}
