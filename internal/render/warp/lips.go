package warp

import (
	"lipsync/internal/face/alignment"
	"lipsync/internal/face/detection"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// lips holds measures of the mouth in one frame. Lengths are canonical: see package alignment.
type lips struct {
	left, right  geom.Point // corners
	top, bottom  float32    // y of the outer edges of the lips, in the middle
	upper, lower float32    // y of their inner edges, in the middle; equal where the lips touch
	dark         float32    // share of the inside that is darker than lips and teeth, 0 to 1
	line         lipLine    // where closed lips meet
	nose         float32    // y of the base of the nose
	pose         [2]float32 // x and y from the point between the pupils to the tip of the nose: they tell how the head is turned
}

const (
	parted    = .06 // lips part visibly from this gap on; a smaller gap of a mouth that never moves is the dark line between closed lips; by eye
	archEnd   = .95 // the inner edges of the lips meet at so many half widths from the middle, a little inside of the corners; by eye
	outerBend = .7  // exponent of the outer edges of the lips, which 1 would make parabolas; by eye

	// A false detection can put landmarks anywhere. These limits keep the mouth plausible.
	leastWidth = .25 // a third of a usual mouth
	leastLips  = .04 // height of both lips
	noseBase   = .12 // the base of the nose is so far below its tip; by eye
	noseAbove  = .05 // but at least so far above the lips; by eye
)

func (m *lips) middle() float32 { return (m.left.X + m.right.X) / 2 }
func (m *lips) width() float32  { return m.right.X - m.left.X }
func (m *lips) height() float32 { return m.bottom - m.top }
func (m *lips) gap() float32    { return m.lower - m.upper }

// tilt returns the slope of the line through the corners: y by x.
func (m *lips) tilt() float32 { return (m.right.Y - m.left.Y) / m.width() }

// axis returns the y at x of the straight line through the corners.
func (m *lips) axis(x float32) float32 { return m.left.Y + m.tilt()*(x-m.left.X) }

// level returns the y at which the lips would meet in the middle of the mouth. By one rule the lower
// lip rises by more than the upper lip comes down; by another closed lips lie on the axis. The level
// is the mean of both rules, and lies between the lips.
func (m *lips) level() float32 {
	return min(max((m.upper+upperShare*m.gap()+m.axis(m.middle()))/2, m.upper), m.lower)
}

// above returns the share of the gap between the lips that is above the level.
func (m *lips) above() float32 { return (m.level() - m.upper) / max(m.gap(), leastGap) }

// grows returns the largest vertical stretch of the mouth's inside.
func (m *lips) grows() float32 { return teethGrow + (darkGrow-teethGrow)*smoothstep(m.dark) }

// close lets the lips touch along the line between them.
func (m *lips) close() {
	m.upper = m.line.at(m, m.middle())
	m.lower = m.upper
}

// arch returns the distance of a lip's inner edge from the axis, as a share of that in the middle of
// the mouth, at s half widths from the middle.
func arch(s float32) float32 { return max(1-square(s/archEnd), 0) }

// inner returns the y of the inner edges of the lips at x. If the lips hardly part, the edges follow
// the line between them. In an open mouth they are two arches over the axis.
func (m *lips) inner(x float32) (upper, lower float32) {
	s := (x - m.middle()) / (m.width() / 2)
	over := m.axis(m.middle())
	a := m.axis(x) + (m.upper-over)*arch(s)
	b := m.axis(x) + (m.lower-over)*arch(s)
	if open := smoothstep(m.gap() / parted); open < 1 {
		line, middle := m.line.at(m, x), m.line.at(m, m.middle())
		level := line + m.level() - middle
		half := m.gap() * arch(s)
		a += (level - m.above()*half - a) * (1 - open)
		b += (level + (1-m.above())*half - b) * (1 - open)
	}
	return a, max(a, b)
}

// outer returns the y of the outer edges of the lips at x.
func (m *lips) outer(x float32) (top, bottom float32) {
	s := (x - m.middle()) / (m.width() / 2)
	axis, over := m.axis(x), m.axis(m.middle())
	bulge := pow(max(1-square(s), 0), outerBend)
	return axis + (m.top-over)*bulge, axis + (m.bottom-over)*bulge
}

// reconcile sets the gap between the lips to the mean of two readings. One is the distance of the
// inner edges, which a highlight on a lip can falsify. The other is the height of the mouth less
// height, the usual height of both lips together.
func (m *lips) reconcile(height float32) {
	gap, level := (m.gap()+max(m.height()-height, 0))/2, m.upper+upperShare*m.gap()
	if gap == 0 {
		m.close()
		return
	}
	m.upper, m.lower = level-upperShare*gap, level+(1-upperShare)*gap
}

// measure measures the mouth of a face. colours has the colours of the person's lips in the frames
// before; measure adds those of this frame.
func measure(f *alignment.Face, colours *colours) (m lips) {
	at := func(landmark int) geom.Point {
		p := f.Landmarks[landmark]
		return geom.Point{X: p.X - f.Shift.X, Y: p.Y - f.Shift.Y}
	}
	m.left, m.right = apart(at(detection.LeftCorner), at(detection.RightCorner))
	m.top = at(detection.UpperLip).Y
	m.bottom = max(at(detection.LowerLip).Y, m.top+leastLips)
	m.nose = min(at(detection.Nose).Y+noseBase, m.top-noseAbove)
	nose := f.Landmarks[detection.Nose]
	m.pose = [2]float32{nose.X - alignment.Middle.X, nose.Y - alignment.Middle.Y}
	to := f.ToMouth()
	m.line = findLine(f.Crop, to, &m)
	m.upper, m.lower = colours.edges(f.Crop, to, &m)
	m.dark = colours.dark(f.Crop, to, &m)
	return m
}

// apart returns the corners of a mouth, moved to leastWidth apart if they are nearer.
func apart(left, right geom.Point) (geom.Point, geom.Point) {
	if wider := leastWidth - (right.X - left.X); wider > 0 {
		left.X -= wider / 2
		right.X += wider / 2
	}
	return left, right
}

// lipLine holds the y of the line between the lips at even steps from corner to corner,
// canonical.
type lipLine [33]float32

// at returns the line's y at x. Beyond a corner that is the y of the corner.
func (l *lipLine) at(m *lips, x float32) float32 {
	u := min(max((x-m.left.X)/m.width(), 0), 1) * float32(len(l)-1)
	i := min(int(u), len(l)-2)
	return l[i] + (l[i+1]-l[i])*(u-float32(i))
}

// The line between the lips is searched for in a grid. It has as many columns as a lipLine has
// values, and lineRows rows from the outer edge of the upper lip to that of the lower one. The
// costs are grey levels of luma. They were chosen by eye.
const (
	lineRows   = 24
	middleCost = 10  // for a distance of one height of the mouth from the place where lips usually meet (lineHeight)
	bendCost   = 90  // for a step of one height of the mouth, up or down, from column to column
	paleCost   = 2.5 // for each level of Cr by which the paler of both lips is less red
	besideLine = .06 // lips must be so far above and below the line, canonical
)

// findLine returns the darkest path from one corner of the mouth to the other that has lips
// above and below it. It is found by dynamic programming, column by column.
func findLine(c *pixels.Crop, to geom.Similarity, m *lips) lipLine {
	n := len(lipLine{})
	height := m.height() / lineRows
	place := func(k, r int) geom.Point {
		x := m.width() * (float32(k)/float32(n-1) - .5)
		return geom.Point{X: m.middle() + x, Y: m.top + m.tilt()*x + (float32(r)+.5)*height}
	}
	price := func(q geom.Point, r int) float32 {
		above := pixels.CrAt(c.YCbCr, to.Apply(geom.Point{X: q.X, Y: q.Y - besideLine}))
		below := pixels.CrAt(c.YCbCr, to.Apply(geom.Point{X: q.X, Y: q.Y + besideLine}))
		return c.Soft(to.Apply(q)) - paleCost*min(above, below) + middleCost*abs(float32(r)/lineRows-lineHeight)
	}
	var cost, next [lineRows]float32
	var from [len(lipLine{})][lineRows]int8
	for k := 1; k < n-1; k++ {
		for r := range lineRows {
			best := cheapest(cost[:], r, bendCost/lineRows)
			next[r] = cost[best] + price(place(k, r), r)
			if best != r {
				next[r] += bendCost / lineRows
			}
			from[k][r] = int8(best)
		}
		cost = next
	}
	r := 0
	for q := range lineRows {
		if cost[q] < cost[r] {
			r = q
		}
	}
	var line lipLine
	for k := n - 2; k > 0; k-- {
		line[k] = place(k, r).Y
		r = int(from[k][r])
	}
	line[0], line[n-1] = m.left.Y, m.right.Y
	return line
}

// cheapest returns row r, or a neighbouring row that is cheaper by more than the cost of a step.
func cheapest(cost []float32, r int, step float32) int {
	best, least := r, cost[r]
	if r > 0 && cost[r-1]+step < least {
		best, least = r-1, cost[r-1]+step
	}
	if r+1 < len(cost) && cost[r+1]+step < least {
		best = r + 1
	}
	return best
}
