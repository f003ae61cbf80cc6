package mouth

import (
	"math"

	"lipsync/internal/signal/pixels"
)

// column is a field along one x: the face is cut into pieces from the nose to the neck, and
// each piece is moved and stretched. Values are canonical. "Before" is in the source, "after" in the
// new shape.
type column struct {
	from, to     []float32 // y of the edges between the pieces, before and after
	upper, lower float32   // y of the inner edges of the lips, after
	jump         float32   // of dy at the inner edge of the lower lip, or beside the mouth where rounding hides the dark of a corner
	seam         float32   // how dark the line between closed lips is, 0 to 1
	shut         float32   // 1 where lips come to touch, 0 where the inside between them is seen
	fade         float32   // 1 near the mouth, 0 at the end of its reach
	aside        float32   // distance in x to the source
	above, below float32   // places between these y move aside by all of that distance
	nose, chin   float32   // places beyond these y don't move aside
}

// newColumn returns the column at x of the field that gives a mouth the shape w.
func newColumn(m *Lips, w Shape, x float32) column {
	half := w.Width / 2
	s := (x - m.Middle() - w.Shift.X) / half // half widths from the middle
	c := column{fade: smoothstep((reach*(1+w.far) - abs(s)) / reachSoft), aside: aside(m, w, s, x)}
	chin := m.Level() + chinBelow
	neck := chin + neckBelow*(1+w.far)
	sunk := w.Shift.Y + chinShare*(w.Gap-m.Gap())*jawShare(s/(1+w.far))                       // of the chin
	shift := w.Shift.Y + (1-arch(s))*(w.Right*pixels.Unit(.5+s/2)+w.Left*pixels.Unit(.5-s/2)) // of the face at the height of the lips
	c.nose, c.above, c.below, c.chin = m.Nose, m.Top.middle(), m.Bottom.middle(), chin
	u, l := m.inner(x + c.aside)
	puckered := w.round * pixels.Unit(w.Gap/edgeMore) * (1 - arch(s/roundest)) // how far rounding shuts the lips here, 0 to 1
	if abs(s) >= 1 {                                                           // beside the mouth, where both edges are at the height of the corner
		lap := roundHides * puckered * pixels.Unit((1+cornerSoft-abs(s))/cornerSoft)
		lap = min(lap, max(u-m.Nose-leastPhiltrum, 0)) // what it hides ends below the nose
		c.upper, c.lower = u+shift, u+shift
		c.from = []float32{m.Nose, u - lap, u + lap, chin, neck}
		c.to = []float32{m.Nose, u + shift, u + shift, chin + sunk, neck}
		c.jump = 2 * lap * c.fade
		return c
	}
	even := m.opening(x+c.aside, s, w.Gap) // of lips that aren't rounded: it places their outer edges
	gap := even + (w.Gap*oval(s)/ovalMean-even)*w.round
	c.upper, c.lower = m.part(u+shift, l+shift, gap)
	high, low := m.part(u+shift, l+shift, even)
	closed := smoothstep(2 - 2*gap/thinGap)
	c.shut = closed * closing(l-u-gap)
	roll := w.roll * c.shut                                                                 // lips that were apart roll inwards as they meet
	lap := overlap*c.shut + w.hide*arch(s)/2 + lipEdge*pixels.Unit(abs(gap-(l-u))/edgeMore) // the edge of a lip may be read in the teeth
	lap += roundHides * puckered
	upperHigh, lowerHigh := max(u-m.Top.at(m, x+c.aside), leastLip), max(m.Bottom.at(m, x+c.aside)-l, leastLip)
	edge, under := u-max(lap, w.crumbs[0].at(s)), l+max(lap, w.crumbs[1].at(s))                                       // of the parts of the lips that stay in sight
	top, bottom := max(min(u-upperHigh, edge-upperHigh/2), m.Nose+leastPhiltrum), max(l+lowerHigh, under+lowerHigh/2) // of thin lips it is the skin beside them that stays
	edge = max(edge, top)
	edge, under = edge-(edge-top)*roll, under+(bottom-under)*roll
	above, below := high-upperHigh*w.Upper*(1-roll), low+lowerHigh*w.Lower*(1-roll)*(1-tuckHides*w.tuck)
	above, below = min(above, c.upper-leastLip), max(below, c.lower+leastLip)
	c.seam = seamDark * closed * closing(under-edge-gap)
	c.seam *= 1 - puckered*smoothstep((abs(s)-roundest*archEnd)/(1-roundest*archEnd)) // a dark line from a round opening to the corners looks like whiskers
	c.from = []float32{m.Nose, top, edge, under, bottom, chin, neck}
	c.to = []float32{m.Nose, max(above, m.Nose+leastPhiltrum), c.upper, c.lower, min(below, chin+sunk-leastChin), chin + sunk, neck}
	c.jump = (under - c.lower - (edge - c.upper)) * c.fade
	return c
}

// part returns the y of inner edges u and l once they have a gap. The upper lip does above of a closing, and upperShare of an opening.
func (m *Lips) part(u, l, gap float32) (upper, lower float32) {
	less, more := min(gap-(l-u), 0), max(gap-(l-u), 0)
	return u - m.above()*less - upperShare*more, l + (1-m.above())*less + (1-upperShare)*more
}

// closing returns how much a gap closes that becomes smaller by a length, 0 to 1.
func closing(by float32) float32 { return pixels.Unit((by - leastClosing) / closingSoft) }

// aside returns the distance in x from a place to the source of its pixel. The place is at x,
// s half widths from the middle of the new shape.
func aside(m *Lips, w Shape, s, x float32) float32 {
	if abs(s) < 1 {
		return m.Middle() + s*m.Width()/2 - x
	}
	corner := max(min(s, 1), -1)
	most := corner*(m.Width()-w.Width)/2 - w.Shift.X
	reach := max(asideReach*(1+w.far), asideLeast*abs(most))
	return most * smoothstep(1-(abs(s)-1)*w.Width/2/reach)
}

// at sets a cell to the one at y: all of it, in its place, since a copy of what was just written waits for memory.
func (c *column) at(y float32, out *cell) {
	out.dx = c.aside * smoothstep((y-c.nose)/(c.above-c.nose)) * smoothstep((c.chin-y)/(c.chin-c.below))
	out.jump, out.below, out.open, out.shut, out.seam = c.jump, y-c.lower, c.lower-c.upper, c.shut, c.seamAt(y)
	switch {
	case y >= c.lower:
		out.dy = (interpolate(y, c.to, c.from)-y)*c.fade - c.jump
	case y > c.upper: // between the lips the upper lip goes on, so that its edge is sharp
		out.dy, out.seam = (interpolate(c.upper, c.to, c.from)-c.upper)*c.fade, c.seam
	default:
		out.dy = (interpolate(y, c.to, c.from) - y) * c.fade
	}
}

// seamAt returns how dark the line between closed lips makes the place at y, 0 to 1.
func (c *column) seamAt(y float32) float32 {
	if d := square((y - (c.upper+c.lower)/2) / seamHalf); c.seam > 0 && d < seamEnd {
		return c.seam * float32(math.Exp(-float64(d)))
	}
	return 0
}

// interpolate returns the value at x of the line through the points (xs, ys). The xs grow.
// Beyond the ends the line goes on with a slope of 1.
func interpolate(x float32, xs, ys []float32) float32 {
	last := len(xs) - 1
	if x <= xs[0] {
		return x + ys[0] - xs[0]
	}
	for i := range last {
		if x <= xs[i+1] && xs[i+1] > xs[i] {
			return ys[i] + (ys[i+1]-ys[i])*(x-xs[i])/(xs[i+1]-xs[i])
		}
	}
	return x + ys[last] - xs[last]
}
