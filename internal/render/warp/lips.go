package warp

import (
	"lipsync/internal/face/alignment"
	"lipsync/internal/face/detection"
	"lipsync/internal/signal/dsp"
	"lipsync/internal/signal/geom"
)

// lips holds measures of the mouth in one frame. Lengths are canonical: see package alignment.
type lips struct {
	left, right  geom.Point // corners
	top, bottom  edge       // outer edges of the lips
	upper, lower edge       // their inner edges, which are equal where the lips touch
	nose         float32    // y of the base of the nose
	pose         [2]float32 // x and y from the point between the pupils to the tip of the nose: they tell how the head is turned
}

const (
	archEnd = .95 // the inner edges of opened lips meet at so many half widths from the middle, a little inside of the corners; by eye

	// A false detection can put points anywhere. These limits keep the mouth plausible.
	leastWidth   = .25 // a third of a usual mouth
	leastLips    = .04 // height of both lips
	noseAbove    = .05 // the base of the nose is at least so far above the lips; by eye
	mostPhiltrum = .6  // and at most so far: more than twice the usual 15 mm, at 62 mm from pupil to pupil (Farkas, Anthropometry of the Head and Face)
)

func (m *lips) middle() float32 { return (m.left.X + m.right.X) / 2 }
func (m *lips) width() float32  { return m.right.X - m.left.X }
func (m *lips) height() float32 { return m.bottom.middle() - m.top.middle() }

// gap returns the mean distance of the inner edges in the middle half of the mouth.
func (m *lips) gap() float32 { return m.lower.mean() - m.upper.mean() }

// tilt returns the slope of the line through the corners: y by x.
func (m *lips) tilt() float32 { return (m.right.Y - m.left.Y) / m.width() }

// lop returns by how much the left half of the mouth is more open than the right one.
func (m *lips) lop() (by float32) {
	const n = len(edge{})
	for k := range n / 2 {
		by += 2 * (m.lower[k] - m.upper[k] - m.lower[n-1-k] + m.upper[n-1-k]) / float32(n)
	}
	return by
}

// axis returns the y at x of the straight line through the corners.
func (m *lips) axis(x float32) float32 { return m.left.Y + m.tilt()*(x-m.left.X) }

// level returns the y at which the lips would meet in the middle of the mouth. By one rule the lower
// lip rises by more than the upper lip comes down; by another closed lips lie on the axis. The level
// is the mean of both rules, and lies between the lips.
func (m *lips) level() float32 {
	return min(max((m.meet()+m.axis(m.middle()))/2, m.upper.middle()), m.lower.middle())
}

// meet returns the y at which the lips would meet in the middle of the mouth. Their edges alone decide it, and not the corners, which a smile
// raises.
func (m *lips) meet() float32 {
	upper, lower := m.upper.middle(), m.lower.middle()
	return upper + upperShare*(lower-upper)
}

// upperEdge returns the y of the upper lip's inner edge in the middle, once the mouth has been given a gap.
func (m *lips) upperEdge(gap float32) float32 { return m.level() - m.over(gap)*gap }

// raised returns how far the corners are above the place at which the lips would meet in the middle.
func (m *lips) raised() float32 { return m.meet() - m.axis(m.middle()) }

// above returns the share of the gap between the lips that is above the level.
func (m *lips) above() float32 {
	upper, lower := m.upper.middle(), m.lower.middle()
	return (m.level() - upper) / max(lower-upper, leastGap)
}

// settle moves the inner edges nearer to each other: those of lips that touch, which are read a rest gap apart, onto each other.
func (m *lips) settle(rest float32) {
	by := alignment.LessAtRest(m.gap(), rest)
	for k := range m.upper {
		less := min(by*arch(place(k))/archMean, m.lower[k]-m.upper[k]) / 2
		m.upper[k], m.lower[k] = m.upper[k]+less, m.lower[k]-less
	}
}

// close lets the lips touch.
func (m *lips) close() {
	for k := range m.upper {
		m.upper[k] = (m.upper[k] + m.lower[k]) / 2
	}
	m.lower = m.upper
}

// arch returns the distance between opened lips, as a share of that in the middle of the mouth, at s half
// widths from the middle.
func arch(s float32) float32 { return max(1-square(s/archEnd), 0) }

// archMean is the mean of arch in the middle half of a mouth.
var archMean = func() float32 {
	var e edge
	for k := range e {
		e[k] = arch(place(k))
	}
	return e.mean()
}()

// inner returns the y of the inner edges of the lips at x.
func (m *lips) inner(x float32) (upper, lower float32) { return m.upper.at(m, x), m.lower.at(m, x) }

// opening returns the distance of the inner edges at x and at s half widths from the middle, once the mouth has been given a gap. An
// open mouth keeps its form; a closed one gets that of arch.
func (m *lips) opening(x, s, gap float32) float32 {
	own := m.gap()
	upper, lower := m.inner(x)
	if gap <= own {
		return (lower - upper) * gap / max(own, leastGap)
	}
	return lower - upper + (gap-own)*arch(s)/archMean
}

// measure measures the mouth of a face.
func measure(f *alignment.Face) (m lips) {
	l := &f.Lips
	m.left, m.right = apart(l.Outer.Upper[0], l.Outer.Upper[detection.ContourPoints-1])
	m.top, m.bottom = m.edgeOf(&l.Outer.Upper), m.edgeOf(&l.Outer.Lower)
	m.upper, m.lower = m.edgeOf(&l.Inner.Upper), m.edgeOf(&l.Inner.Lower)
	m.nose = f.Landmarks[detection.NoseBase].Y
	m.order()
	nose := f.Landmarks[detection.Nose]
	m.pose = [2]float32{nose.X + f.Shift.X - alignment.Middle.X, nose.Y + f.Shift.Y - alignment.Middle.Y}
	return m
}

// order moves edges that are not one below the other, and a base of the nose that is too near to the lips or too far above them.
func (m *lips) order() {
	for k := range m.upper {
		m.lower[k] = max(m.lower[k], m.upper[k])
		m.top[k] = min(m.top[k], m.upper[k])
		m.bottom[k] = max(m.bottom[k], m.lower[k])
	}
	m.nose = min(max(m.nose, m.top.middle()-mostPhiltrum), m.top.middle()-noseAbove)
	if thin := leastLips - m.height(); thin > 0 {
		for k := range m.bottom {
			m.bottom[k] += thin * arch(place(k))
		}
	}
}

// apart returns the corners of a mouth, moved to leastWidth apart if they are nearer.
func apart(left, right geom.Point) (geom.Point, geom.Point) {
	if wider := leastWidth - (right.X - left.X); wider > 0 {
		left.X -= wider / 2
		right.X += wider / 2
	}
	return left, right
}

// edge holds the y of an edge of a lip at even steps from corner to corner, canonical.
type edge [33]float32

// place returns the distance of value k of an edge from the middle of the mouth, in half widths of the mouth.
func place(k int) float32 { return 2*float32(k)/float32(len(edge{})-1) - 1 }

// at returns the edge's y at x. Beyond a corner that is the y of the corner.
func (e *edge) at(m *lips, x float32) float32 {
	u := min(max((x-m.left.X)/m.width(), 0), 1) * float32(len(e)-1)
	i := min(int(u), len(e)-2)
	return e[i] + (e[i+1]-e[i])*(u-float32(i))
}

func (e *edge) middle() float32 { return e[len(e)/2] }

// mean returns the mean of the middle half of the edge.
func (e *edge) mean() (sum float32) {
	const from, to = len(e) / 4, len(e) - len(e)/4
	for _, y := range e[from:to] {
		sum += y / float32(to-from)
	}
	return sum
}

// acrossSmooth is the standard deviation of a Gaussian, in values of an edge, which rounds off the corners of a contour. By eye.
const acrossSmooth = 1.2

// edgeOf returns the edge of a mouth whose corners are known, by the points of a contour. The inner contour ends before the corners.
func (m *lips) edgeOf(points *[detection.ContourPoints]geom.Point) (e edge) {
	i := -1 // the last point that is not to the right of the place; -1: the left corner
	at := func(i int) geom.Point {
		switch {
		case i < 0:
			return m.left
		case i >= len(points):
			return m.right
		}
		return points[i]
	}
	for k := range e {
		x := m.left.X + m.width()*float32(k)/float32(len(e)-1)
		for i < len(points) && at(i+1).X <= x {
			i++
		}
		a, b := at(i), at(i+1)
		e[k] = a.Y
		if b.X > a.X {
			e[k] += (b.Y - a.Y) * clamp((x-a.X)/(b.X-a.X))
		}
	}
	e[0], e[len(e)-1] = m.left.Y, m.right.Y
	copy(e[1:len(e)-1], dsp.Gaussian(e[:], acrossSmooth)[1:])
	return e
}
