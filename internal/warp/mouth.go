package warp

import (
	"math"

	"lipsync/internal/alignment"
	"lipsync/internal/detection"
	"lipsync/internal/geom"
	"lipsync/internal/pixels"
)

// mouth is the shape of one mouth. All lengths are canonical: see package alignment.
type mouth struct {
	left, right  geom.Point // corners
	top, bottom  float32    // y of the outer edges of the lips, in the middle
	upper, lower float32    // y of their inner edges, in the middle; equal where the lips touch
	dark         float32    // share of what is seen between them that is darker than lips and teeth
	line         lipLine    // where closed lips meet
	nose         float32    // y of the base of the nose
	pose         [2]float32 // of the nose's tip against the eyes: how the head is turned
}

// lipLine holds the y of the line between the lips at even steps from corner to
// corner.
type lipLine [33]float32

func (m *mouth) middle() float32 { return (m.left.X + m.right.X) / 2 }
func (m *mouth) width() float32  { return m.right.X - m.left.X }
func (m *mouth) lips() float32   { return m.bottom - m.top }
func (m *mouth) gap() float32    { return m.lower - m.upper }

// tilt is how steeply the corners rise or fall, y by x.
func (m *mouth) tilt() float32 { return (m.right.Y - m.left.Y) / m.width() }

// axis returns the y at x of the straight line through the corners.
func (m *mouth) axis(x float32) float32 { return m.left.Y + m.tilt()*(x-m.left.X) }

// level is the y of the middle of the mouth if its lips were closed. A lower lip
// rises more than the upper one comes down, and closed lips lie on the axis: the
// mean of what these two rules say, which lies between the lips.
func (m *mouth) level() float32 {
	return min(max((m.upper+upperShare*m.gap()+m.axis(m.middle()))/2, m.upper), m.lower)
}

// above is the share of the gap between the lips that is over the level.
func (m *mouth) above() float32 { return (m.level() - m.upper) / max(m.gap(), 1e-4) }

// grows returns the largest vertical stretch of what is seen of the mouth's inside.
func (m *mouth) grows() float32 { return teethGrow + (darkGrow-teethGrow)*smoothstep(m.dark) }

// at returns the line's y at x; beyond the corners it goes on level.
func (l *lipLine) at(m *mouth, x float32) float32 {
	u := min(max((x-m.left.X)/m.width(), 0), 1) * float32(len(l)-1)
	i := min(int(u), len(l)-2)
	return l[i] + (l[i+1]-l[i])*(u-float32(i))
}

// parted is the gap from which on lips are seen to part, canonical. In a mouth that
// never moves a smaller one is the dark line between closed lips.
const parted = .06

// close lets the lips touch along the line between them.
func (m *mouth) close() {
	m.upper = m.line.at(m, m.middle())
	m.lower = m.upper
}

// arch is the height at s of a lip's inner edge over the axis, 1 in the middle. s
// is 0 in the middle and 1 at a corner.
func arch(s float32) float32 { return max(1-sq(s/.95), 0) }

// inner returns the y of the inner edges of the lips at x. Lips that hardly part
// do so along the line between them; an open mouth has two arches over its axis.
func (m *mouth) inner(x float32) (upper, lower float32) {
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
func (m *mouth) outer(x float32) (top, bottom float32) {
	s := (x - m.middle()) / (m.width() / 2)
	axis, over := m.axis(x), m.axis(m.middle())
	bulge := power(max(1-sq(s), 0), .7)
	return axis + (m.top-over)*bulge, axis + (m.bottom-over)*bulge
}

// measure measures the mouth of a face, given the colours of its lips so far.
func measure(f *alignment.Face, colours *colours) (m mouth) {
	at := func(landmark int) geom.Point {
		p := f.Landmarks[landmark]
		return geom.Point{X: p.X - f.Shift.X, Y: p.Y - f.Shift.Y}
	}
	m.left, m.right = apart(at(detection.LeftCorner), at(detection.RightCorner))
	m.top = at(detection.UpperLip).Y
	m.bottom = max(at(detection.LowerLip).Y, m.top+.04)
	m.nose = min(at(detection.Nose).Y+.12, m.top-.05)
	nose := f.Landmarks[detection.Nose]
	m.pose = [2]float32{nose.X - alignment.Middle.X, nose.Y - alignment.Middle.Y}
	to := f.ToMouth()
	m.line = findLine(f.Crop, to, &m)
	m.upper, m.lower = colours.edges(f.Crop, to, &m)
	m.dark = colours.dark(f.Crop, to, &m)
	return m
}

// apart returns the corners of a mouth at least a quarter unit apart: on what
// isn't a face, landmarks can be anywhere.
func apart(left, right geom.Point) (geom.Point, geom.Point) {
	if wider := .25 - (right.X - left.X); wider > 0 {
		left.X -= wider / 2
		right.X += wider / 2
	}
	return left, right
}

// findLine returns the darkest path from one corner of the mouth to the other
// that has lips above and below it, by dynamic programming.
func findLine(c *pixels.Crop, to geom.Similarity, m *mouth) lipLine {
	const rows, away, bend, red, lip = 24, 10, 90, 2.5, .06
	// Costs in grey levels: of a lip height off the middle, of a lip height up
	// or down a column, of a level of redness less on the lips beside the line.
	n := len(lipLine{})
	height := m.lips() / rows
	place := func(k, r int) geom.Point {
		x := m.width() * (float32(k)/float32(n-1) - .5)
		return geom.Point{X: m.middle() + x, Y: m.top + m.tilt()*x + (float32(r)+.5)*height}
	}
	price := func(q geom.Point, r int) float32 {
		above := pixels.CrAt(c.YCbCr, to.Apply(geom.Point{X: q.X, Y: q.Y - lip}))
		below := pixels.CrAt(c.YCbCr, to.Apply(geom.Point{X: q.X, Y: q.Y + lip}))
		return c.Soft(to.Apply(q)) - red*min(above, below) + away*abs(float32(r)/rows-.45)
	}
	var cost, next [rows]float32
	var from [len(lipLine{})][rows]int8
	for k := 1; k < n-1; k++ {
		for r := range rows {
			best := cheapest(cost[:], r, bend/rows)
			next[r] = cost[best] + price(place(k, r), r)
			if best != r {
				next[r] += bend / rows
			}
			from[k][r] = int8(best)
		}
		cost = next
	}
	r := 0
	for q := range rows {
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

// cheapest returns r or the row beside it that is cheaper by more than a step.
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

func clamp(x float32) float32 { return min(max(x, 0), 1) }

func smoothstep(x float32) float32 {
	x = clamp(x)
	return x * x * (3 - 2*x)
}

func power(x, e float32) float32 { return float32(math.Exp(float64(e) * math.Log(float64(x)))) }

func sq(x float32) float32 { return x * x }

func abs(x float32) float32 { return max(x, -x) }
