package mouth

import (
	"image"
	"testing"

	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
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

// TestCrumbs checks that teeth that were read as a lip are found, that nothing is found on a lip without them or below a dark inside, and that
// they are hidden.
func TestCrumbs(t *testing.T) {
	const by = .03 // by so much the edge of a lip was read beside its place
	to := geom.Similarity{A: canonicalPixels}
	for _, c := range []struct {
		name         string
		inside       [2]uint8
		upper, lower float32 // by so much the edges were read nearer to each other
		want         [2]float32
	}{
		{"teeth on the upper lip", teethColour, by, 0, [2]float32{by, 0}}, {"teeth on the lower lip", teethColour, 0, by, [2]float32{0, by}},
		{"teeth beside the lips", teethColour, 0, 0, [2]float32{}}, {"dark on the lips", [2]uint8{60, 140}, by, by, [2]float32{}},
	} {
		m := someLips(.2)
		e := Example{Shown: Observation{To: to, Lips: m}, Pixels: drawLips(&m, c.inside)}
		for k := range e.Shown.Lower {
			e.Shown.Upper[k] = min(e.Shown.Upper[k]+c.upper, e.Shown.Lower[k])
			e.Shown.Lower[k] = max(e.Shown.Lower[k]-c.lower, e.Shown.Upper[k])
		}
		e.look = lookOf(e.Pixels, to)
		for i, crumbs := range e.crumbs() {
			if got := crumbs.at(0); abs(got-c.want[i]) > .011 {
				t.Errorf("%s: got crumbs of %.3f on lip %d, want %.3f", c.name, got, i, c.want[i])
			}
		}
		if c.want == [2]float32{} {
			continue
		}
		frame := someLips(0)
		shape := Shape{Gap: e.Shown.Gap(), Width: e.Shown.Width(), Upper: 1, Lower: 1}
		painted, _ := Paint(drawLips(&frame, lipColour), &Wanted{
			Person: &Person{Most: .25, Line: frame.Level(), look: e.look}, Own: Observation{To: to, Lips: frame}, Example: &e, Shape: shape, Under: shape,
		})
		k := newColumn(&e.Shown.Lips, shape, frame.Middle())
		for _, y := range []float32{k.upper - c.upper/2, k.lower + c.lower/2} {
			if got := pixels.LumaAt(painted.Image, to.Apply(geom.Point{X: frame.Middle(), Y: y})); (y < k.upper || y > k.lower) && got > float32(lipColour[0])*1.1 {
				t.Errorf("%s: an edge of a lip has a luma of %.0f", c.name, got)
			}
		}
	}
}
