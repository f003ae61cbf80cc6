package mouth

import (
	"lipsync/internal/face/alignment"
	"lipsync/internal/face/detection"
	"lipsync/internal/signal/dsp"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// Lips holds measures of the mouth in one frame. Lengths are canonical: see package alignment.
type Lips struct {
	Left, Right  geom.Point // corners
	Top, Bottom  edge       // outer edges of the lips
	Upper, Lower edge       // their inner edges, which are equal where the lips touch
	Nose         float32    // y of the base of the nose
	Pose         [2]float32 // x and y from the point between the pupils to the tip of the nose: they tell how the head is turned
}

const (
	archEnd  = .95 // half widths from the middle at which the inner edges of opened lips meet, a little inside of the corners; by eye
	roundest = .8  // share of archEnd at which those of lips that are rounded in full meet; by eye. At .7 they looked like a lens with a tail at each end

	// A false detection can put points anywhere. These limits keep the mouth plausible.
	leastWidth   = .25 // a third of a usual mouth
	leastLips    = .04 // height of both lips
	noseAbove    = .05 // the base of the nose is at least so far above the lips; by eye
	mostPhiltrum = .6  // and at most so far: more than twice the usual 15 mm, at 62 mm from pupil to pupil (Farkas, Anthropometry of the Head and Face)
)

func (m *Lips) Middle() float32 { return (m.Left.X + m.Right.X) / 2 }
func (m *Lips) Width() float32  { return m.Right.X - m.Left.X }
func (m *Lips) height() float32 { return m.Bottom.middle() - m.Top.middle() }

// Gap returns the mean distance of the inner edges in the middle half of the mouth.
func (m *Lips) Gap() float32 { return m.Lower.mean() - m.Upper.mean() }

// Tilt returns the slope of the line through the corners: y by x.
func (m *Lips) Tilt() float32 { return (m.Right.Y - m.Left.Y) / m.Width() }

// Lop returns by how much the left half of the mouth is more open than the right one.
func (m *Lips) Lop() (by float32) {
	const n = len(edge{})
	for k := range n / 2 {
		by += 2 * (m.Lower[k] - m.Upper[k] - m.Lower[n-1-k] + m.Upper[n-1-k]) / float32(n)
	}
	return by
}

// axis returns the y at x of the straight line through the corners.
func (m *Lips) axis(x float32) float32 { return m.Left.Y + m.Tilt()*(x-m.Left.X) }

// Level returns the y at which the lips would meet in the middle of the mouth. By one rule the lower
// lip rises by more than the upper lip comes down; by another closed lips lie on the axis. The level
// is the mean of both rules, and lies between the lips.
func (m *Lips) Level() float32 {
	return min(max((m.meet()+m.axis(m.Middle()))/2, m.Upper.middle()), m.Lower.middle())
}

// meet returns the y at which the lips would meet in the middle of the mouth. Their edges alone decide it, and not the corners, which a smile
// raises.
func (m *Lips) meet() float32 {
	upper, lower := m.Upper.middle(), m.Lower.middle()
	return upper + upperShare*(lower-upper)
}

// upperEdge returns the y of the upper lip's inner edge in the middle, once the mouth has been given a gap, and isn't rounded.
func (m *Lips) upperEdge(gap float32) float32 { return m.Level() - m.over(gap)*gap }

// Raised returns how far the corners are above the place at which the lips would meet in the middle.
func (m *Lips) Raised() float32 { return m.meet() - m.axis(m.Middle()) }

// above returns the share of the gap between the lips that is above the level.
func (m *Lips) above() float32 {
	upper, lower := m.Upper.middle(), m.Lower.middle()
	return (m.Level() - upper) / max(lower-upper, leastGap)
}

// Settle moves the inner edges nearer to each other: those of lips that touch, which are read a rest gap apart, onto each other.
func (m *Lips) Settle(rest float32) {
	by := alignment.LessAtRest(m.Gap(), rest)
	for k := range m.Upper {
		less := min(by*arch(place(k))/archMean, m.Lower[k]-m.Upper[k]) / 2
		m.Upper[k], m.Lower[k] = m.Upper[k]+less, m.Lower[k]-less
	}
}

// Close lets the lips touch.
func (m *Lips) Close() {
	for k := range m.Upper {
		m.Upper[k] = (m.Upper[k] + m.Lower[k]) / 2
	}
	m.Lower = m.Upper
}

// arch returns the distance between opened lips, as a share of that in the middle of the mouth, at s half
// widths from the middle.
func arch(s float32) float32 { return max(1-square(s/archEnd), 0) }

// oval returns the distance between lips that are rounded in full, likewise. Their opening is half way from the form of arch, which looks like a beak
// where it is high, to an ellipse; its sides are shut.
func oval(s float32) float32 {
	a := arch(s / roundest)
	return sqrt(a * sqrt(a))
}

// archMean and ovalMean are the means of arch and oval in the middle half of a mouth.
var archMean, ovalMean = meanOf(arch), meanOf(oval)

func meanOf(distance func(s float32) float32) float32 {
	var e edge
	for k := range e {
		e[k] = distance(place(k))
	}
	return e.mean()
}

// inner returns the y of the inner edges of the lips at x.
func (m *Lips) inner(x float32) (upper, lower float32) { return m.Upper.at(m, x), m.Lower.at(m, x) }

// opening returns the distance of the inner edges at x and at s half widths from the middle, once the mouth has been given a gap. An
// open mouth keeps its form; a closed one gets that of arch.
func (m *Lips) opening(x, s, gap float32) float32 {
	own := m.Gap()
	upper, lower := m.inner(x)
	if gap <= own {
		return (lower - upper) * gap / max(own, leastGap)
	}
	return lower - upper + (gap-own)*arch(s)/archMean
}

// measure measures the mouth of a face.
func measure(f *alignment.Face) (m Lips) {
	l := &f.Lips
	m.Left, m.Right = apart(l.Outer.Upper[0], l.Outer.Upper[detection.ContourPoints-1])
	m.Top, m.Bottom = m.edgeOf(&l.Outer.Upper), m.edgeOf(&l.Outer.Lower)
	m.Upper, m.Lower = m.edgeOf(&l.Inner.Upper), m.edgeOf(&l.Inner.Lower)
	m.Nose = f.Landmarks[detection.NoseBase].Y
	m.order()
	nose := f.Landmarks[detection.Nose]
	m.Pose = [2]float32{nose.X + f.Shift.X - alignment.Middle.X, nose.Y + f.Shift.Y - alignment.Middle.Y}
	return m
}

// order moves edges that are not one below the other, and a base of the nose that is too near to the lips or too far above them.
func (m *Lips) order() {
	for k := range m.Upper {
		m.Lower[k] = max(m.Lower[k], m.Upper[k])
		m.Top[k] = min(m.Top[k], m.Upper[k])
		m.Bottom[k] = max(m.Bottom[k], m.Lower[k])
	}
	m.Nose = min(max(m.Nose, m.Top.middle()-mostPhiltrum), m.Top.middle()-noseAbove)
	if thin := leastLips - m.height(); thin > 0 {
		for k := range m.Bottom {
			m.Bottom[k] += thin * arch(place(k))
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
func (e *edge) at(m *Lips, x float32) float32 {
	return along(e[:], min(max((x-m.Left.X)/m.Width(), 0), 1))
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
func (m *Lips) edgeOf(points *[detection.ContourPoints]geom.Point) (e edge) {
	i := -1 // the last point that is not to the right of the place; -1: the left corner
	at := func(i int) geom.Point {
		switch {
		case i < 0:
			return m.Left
		case i >= len(points):
			return m.Right
		}
		return points[i]
	}
	for k := range e {
		x := m.Left.X + m.Width()*float32(k)/float32(len(e)-1)
		for i < len(points) && at(i+1).X <= x {
			i++
		}
		a, b := at(i), at(i+1)
		e[k] = a.Y
		if b.X > a.X {
			e[k] += (b.Y - a.Y) * pixels.Unit((x-a.X)/(b.X-a.X))
		}
	}
	e[0], e[len(e)-1] = m.Left.Y, m.Right.Y
	copy(e[1:len(e)-1], dsp.Gaussian(e[:], acrossSmooth)[1:])
	return e
}
