package warp

import (
	"lipsync/internal/alignment"
	"lipsync/internal/detection"
	"lipsync/internal/dsp"
	"lipsync/internal/geom"
	"lipsync/internal/pixels"
)

// mouth is the geometry of one mouth. All lengths are canonical: see package alignment.
type mouth struct {
	left, right geom.Point // corners
	top, bottom float32    // outer edges of the lips, in the middle
	line        lipLine    // where the lips meet
	nose        float32    // base of the nose
	pose        [2]float32 // of the nose's tip against the eyes: how the head is turned
	valley      float32    // how much less red than the lips it is between them: grows as the mouth opens
	dip         float32    // how deep that is at most, in levels of redness
}

// lipLine holds the y of the line between the lips at even steps from corner to
// corner.
type lipLine [33]float32

func (m *mouth) middle() float32 { return (m.left.X + m.right.X) / 2 }
func (m *mouth) width() float32  { return m.right.X - m.left.X }
func (m *mouth) lips() float32   { return m.bottom - m.top }

// tilt is how steeply the corners rise or fall, y by x.
func (m *mouth) tilt() float32 { return (m.right.Y - m.left.Y) / m.width() }

// at returns the line's y at x; beyond the corners it goes on level.
func (l *lipLine) at(m *mouth, x float32) float32 {
	u := min(max((x-m.left.X)/m.width(), 0), 1) * float32(len(l)-1)
	i := min(int(u), len(l)-2)
	return l[i] + (l[i+1]-l[i])*(u-float32(i))
}

// measure measures the mouth of a face.
func measure(f *alignment.Face) (m mouth) {
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
	m.valley, m.dip = valley(f.Crop, to, &m)
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

// valley returns the area of the dip in redness down the middle of the mouth,
// along lines as tilted as the mouth.
func valley(c *pixels.Crop, to geom.Similarity, m *mouth) (area, deepest float32) {
	const rows, columns, above, below, half = 56, 13, .35, .525, .2
	const step = (above + below) / rows
	centre := (m.left.Y + m.right.Y) / 2
	var profile [rows]float32
	for r := range rows {
		for k := range columns {
			x := half * (2*float32(k)/(columns-1) - 1)
			q := geom.Point{X: m.middle() + x, Y: centre + m.tilt()*x - above + step*float32(r)}
			profile[r] += pixels.CrAt(c.YCbCr, to.Apply(q)) / columns
		}
	}
	soft := dsp.Gaussian(profile[:], 1.2)
	var right [rows + 1]float32
	for r := rows - 1; r >= 0; r-- {
		right[r] = max(right[r+1], soft[r])
	}
	var left float32
	for r, v := range soft {
		left = max(left, v)
		area += (min(left, right[r]) - v) * step
		deepest = max(deepest, min(left, right[r])-v)
	}
	return area, deepest
}
