package warp

import "math"

// column is a field along one x: the face is cut into pieces from the nose to the neck, and
// each piece is moved and stretched. Values are canonical. "Before" is in the source, "after" in the
// new shape.
type column struct {
	from, to     []float32 // y of the edges between the pieces, before and after
	upper, lower float32   // y of the inner edges of the lips, after
	inner, depth float32   // y of the upper lip's inner edge before, and the height of the inside that is used
	stretch      float32   // of the inside that the source shows
	unseen       float32   // height of the inside below it, which the source doesn't show
	jump         float32   // of dy at the inner edge of the lower lip
	seam         float32   // how dark the line between closed lips is, 0 to 1
	closes       float32   // 1 where lips come to touch, 0 where the inside between them is seen
	edge         float32   // y before of the part of the upper lip that touches the lower one after
	fade         float32   // 1 near the mouth, 0 at the end of its reach
	aside        float32   // distance in x to the source
	above, below float32   // places between these y move aside by all of that distance
	nose, chin   float32   // places beyond these y don't move aside
}

// newColumn returns the column at x of the field that gives a mouth the shape w.
func newColumn(m *lips, w shape, x float32) column {
	half := w.width / 2
	s := (x - m.middle() - w.shift.X) / half // half widths from the middle
	c := column{fade: smoothstep((reach*(1+w.far) - abs(s)) / reachSoft), aside: aside(m, w, s, x)}
	line := m.line.at(m, x+c.aside)
	chin := m.level() + chinBelow
	neck := chin + neckBelow*(1+w.far)
	sunk := w.shift.Y + chinShare*(w.gap-m.gap())*jawShare(s/(1+w.far))           // of the chin
	shift := w.shift.Y + (1-arch(s))*(w.right*clamp(.5+s/2)+w.left*clamp(.5-s/2)) // of the face at the height of the lips
	c.nose, c.above, c.below, c.chin = m.nose, m.top, m.bottom, chin
	if abs(s) >= 1 { // beside the mouth
		c.upper, c.lower = line+shift, line+shift
		c.from = []float32{m.nose, line, chin, neck}
		c.to = []float32{m.nose, line + shift, chin + sunk, neck}
		return c
	}
	u, l := m.inner(x + c.aside)
	gap := w.gap * arch(s)
	shut, more := min(gap-(l-u), 0), max(gap-(l-u), 0) // by which the lips close (negative) or open
	c.upper = u + shift - m.above()*shut - upperShare*more
	c.lower = l + shift + (1-m.above())*shut + (1-upperShare)*more
	closed := smoothstep(2 - 2*gap/thinGap)
	closes := closed * closing(l-u-gap)
	roll := w.roll * closes // lips that were apart roll inwards as they meet
	lap := overlap * closes
	top, bottom := m.outer(x + c.aside)
	top, bottom = min(top, u-lap-leastLip), max(bottom, l+lap+leastLip)
	above, below := c.upper-(u-top)*w.upper*(1-roll), c.lower+(bottom-l)*w.lower*(1-roll)*(1-tuckHides*w.tuck)
	edge, under := u-lap-(u-lap-top)*roll, l+lap+(bottom-l-lap)*roll // of the parts of the lips that stay in sight
	c.seam = seamDark * closed * closing(under-edge-gap)
	c.from = []float32{m.nose, top, edge, under, bottom, chin, neck}
	c.to = []float32{m.nose, max(above, m.nose+leastPhiltrum), c.upper, c.lower, min(below, chin+sunk-leastChin), chin + sunk, neck}
	c.inner, c.depth, c.stretch, c.closes, c.edge = u, l-u, 1, closes, u-lap
	if gap > l-u+leastOpening {
		c.depth = max(l-u-lipEdge, 0)
		c.stretch = min(gap/max(l-u, leastGap), m.grows())
		c.unseen = (gap - c.stretch*(l-u)) * (1 - closed)
	}
	if c.jump = (under - c.lower) * c.fade; c.lower > c.upper {
		c.jump -= c.inside(c.lower)
	} else {
		c.jump -= (edge - c.upper) * c.fade
	}
	return c
}

// closing returns how much a gap closes that becomes smaller by a length, 0 to 1.
func closing(by float32) float32 { return clamp((by - leastClosing) / closingSoft) }

// inside returns dy at y between the lips. Teeth stay with the upper lip. Lips that come to
// touch hide them.
func (c *column) inside(y float32) float32 {
	from := c.inner + min((y-c.upper)/c.stretch, c.depth)
	return from + (c.edge-from)*c.closes - y
}

// aside returns the distance in x from a place to the source of its pixel. The place is at x,
// s half widths from the middle of the new shape.
func aside(m *lips, w shape, s, x float32) float32 {
	if abs(s) < 1 {
		return m.middle() + s*m.width()/2 - x
	}
	corner := max(min(s, 1), -1)
	most := corner*(m.width()-w.width)/2 - w.shift.X
	return most * smoothstep(1-(abs(s)-1)*w.width/2/(asideReach*(1+w.far)))
}

// at returns the cell at y.
func (c *column) at(y float32) (out cell) {
	out.dx = c.aside * smoothstep((y-c.nose)/(c.above-c.nose)) * smoothstep((c.chin-y)/(c.chin-c.below))
	out.dy, out.jump, out.below, out.open = (interpolate(y, c.to, c.from)-y)*c.fade, c.jump, y-c.lower, c.lower-c.upper
	out.seam = c.seamAt(y)
	in := min(y, c.lower) - c.upper
	if c.unseen > 0 {
		out.fill = clamp((in-c.stretch*c.depth+softFill)/softFill) * clamp(c.unseen/softFill)
	}
	if out.open > 0 {
		out.depth = clamp(in / out.open)
	}
	switch {
	case y >= c.lower:
		out.dy -= c.jump
	case y > c.upper:
		out.dy, out.seam = c.inside(y), c.seam
	}
	return out
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
