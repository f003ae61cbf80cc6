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

// TestCrumbs checks that teeth that were read as a lip are found, at their place only, that nothing is found on a lip without them, below a dark inside,
// or on shut lips, and that they are hidden.
func TestCrumbs(t *testing.T) {
	const by = .03 // by so much the edge of a lip was read beside its place
	to := geom.Similarity{A: canonicalPixels}
	for _, c := range []struct {
		name         string
		gap          float32
		inside       [2]uint8
		upper, lower [2]float32 // by so much the left and the right half of an edge were read nearer to the other edge
	}{
		{"teeth on the upper lip", .2, teethColour, [2]float32{by, by}, [2]float32{}}, {"teeth on the lower lip", .2, teethColour, [2]float32{}, [2]float32{by, by}},
		{"teeth on one end", .2, teethColour, [2]float32{0, by}, [2]float32{by, 0}}, {"teeth beside the lips", .2, teethColour, [2]float32{}, [2]float32{}},
		{"dark on the lips", .2, [2]uint8{60, 140}, [2]float32{}, [2]float32{}}, {"shut lips, read too low", .02, teethColour, [2]float32{}, [2]float32{}},
	} {
		m := someLips(c.gap)
		e := Example{Shown: Observation{To: to, Lips: m}, Pixels: drawLips(&m, c.inside)}
		for k := range e.Shown.Lower {
			half := 2 * k / len(edge{})
			e.Shown.Upper[k] = min(e.Shown.Upper[k]+c.upper[half], e.Shown.Lower[k])
			e.Shown.Lower[k] = max(e.Shown.Lower[k]-c.lower[half], e.Shown.Upper[k])
		}
		e.look = lookOf(e.Pixels, to)
		all, want := e.crumbs(), [2][2]float32{c.upper, c.lower}
		for i, crumbs := range all {
			for half, s := range []float32{-.4, .4} {
				if got := crumbs.at(s); abs(got-want[i][half]) > .011 {
					t.Errorf("%s: got crumbs of %.3f on lip %d at %g, want %.3f", c.name, got, i, s, want[i][half])
				}
			}
		}
		frame := someLips(0)
		shape := Shape{Gap: e.Shown.Gap(), Width: e.Shown.Width(), Upper: 1, Lower: 1}
		painted, _ := Paint(drawLips(&frame, lipColour), &Wanted{
			Person: &Person{Most: .25, Line: frame.Level(), look: e.look}, Own: Observation{To: to, Lips: frame}, Example: &e, Shape: shape, Under: shape,
		})
		for half, s := range []float32{-.4, .4} {
			x := frame.Middle() + s*frame.Width()/2
			k := newColumn(&e.Shown.Lips, shape, x)
			for lip, y := range [2]float32{k.upper - c.upper[half]/2, k.lower + c.lower[half]/2} {
				if got := pixels.LumaAt(painted.Image, to.Apply(geom.Point{X: x, Y: y})); want[lip][half] > 0 && got > float32(lipColour[0])*1.15 {
					t.Errorf("%s: at %g the edge of lip %d has a luma of %.0f", c.name, s, lip, got)
				}
			}
		}
	}
}
