package mouth

import (
	"slices"
	"testing"
)

// TestGive gives two mouths that lie at other places, and have other lips, one outline. The edges of their lips must come to lie at the same
// places, and lips that touch must meet at the level of the frame's mouth.
func TestGive(t *testing.T) {
	own, one, other := someLips(.05), tiltedLips(.15, .02, .03), tiltedLips(.1, .05, -.02)
	other.Left.X, other.Right.X = other.Left.X+.04, other.Right.X+.04
	for k := range other.Top {
		other.Top[k], other.Bottom[k] = other.Top[k]-.03, other.Bottom[k]+.06
	}
	for _, gap := range []float32{0, .1, .2} {
		o := OutlineOf(&own, &one, gap)
		want, got := edgesAfter(&one, &o, gap), edgesAfter(&other, &o, gap)
		if !slices.EqualFunc(got, want, func(a, b float32) bool { return abs(a-b) <= .004 }) {
			t.Errorf("gap %.1f: the edges of the lips lie at\n%.3f in one mouth,\n%.3f in the other", gap, want, got)
		}
		if gap == 0 && abs(got[1]-own.Level()) > 1e-3 {
			t.Errorf("lips meet at %.3f, the frame's own at %.3f", got[1], own.Level())
		}
	}
}

// edgesAfter returns the y of the edges of a mouth's lips in an outline: from top to bottom in the middle of the mouth, and then beside its left
// and right corner.
func edgesAfter(m *Lips, o *Outline, gap float32) (y []float32) {
	s := o.Give(m, Shape{Gap: gap, Width: .8, Upper: 1, Lower: 1})
	middle := m.Middle() + s.Shift.X
	y = append(y, newColumn(m, s, middle).to[1:5]...)
	for _, side := range []float32{-1.001, 1.001} {
		y = append(y, newColumn(m, s, middle+side*s.Width/2).to[1])
	}
	return y
}

// TestUnder gives a mouth the outline of one with thicker lips, to lie under it. Its lips keep about their area, but become thinner if the other's are.
func TestUnder(t *testing.T) {
	for name, c := range map[string]struct{ thicker, width, most float32 }{
		"thicker":           {.08, 1, 1},
		"thicker and wider": {.08, 1.25, .8},
		"narrower":          {.08, .8, 1.25},
		"thinner":           {-.02, 1, 1},
	} {
		own := someLips(.1)
		shown := own
		for k := range shown.Bottom {
			shown.Bottom[k], shown.Top[k] = shown.Bottom[k]+c.thicker, shown.Top[k]-c.thicker
		}
		o, s := OutlineOf(&own, &shown, .1), Shape{Gap: .1, Width: c.width * own.Width(), Upper: 1, Lower: 1}
		under, whole := o.Under(&own, s), o.Give(&own, s)
		for lip, v := range map[string][2]float32{"upper": {under.Upper, whole.Upper}, "lower": {under.Lower, whole.Lower}} {
			if want := min(v[1], c.most); abs(v[0]-want) > 1e-3 {
				t.Errorf("%s: the %s lip is %.3f times as high, want %.3f", name, lip, v[0], want)
			}
			if thin := v[1] < 1; thin != (c.thicker < 0) {
				t.Errorf("%s: to fit, the %s lip would be %.3f times as high", name, lip, v[1])
			}
		}
	}
}
