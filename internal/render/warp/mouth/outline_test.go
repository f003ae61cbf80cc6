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
