package warp

import (
	"lipsync/internal/dsp"
	"lipsync/internal/face"
)

// mouth is the geometry of one mouth. All lengths are canonical: in units of the
// distance of the pupils, y down (see package face).
type mouth struct {
	left, right face.Point // corners
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

// sample is one frame of a track: its landmarks, its pixels and where the
// canonical face is in it.
type sample struct {
	frame int
	face.Sample
	to    face.Similarity
	moved face.Point // in to, of the mouth against the eyes
}

// mouths measures the mouths of consecutive samples.
func mouths(samples []sample) []mouth {
	points := make([]face.Sample, len(samples)) // landmarks in canonical coordinates
	for i, s := range samples {
		back := s.to.Inverse()
		for k, p := range s.Points {
			points[i].Points[k] = back.Apply(p)
		}
	}
	landmark := func(index int) []face.Point { return face.Smooth(points, index, 2) }
	left, right := landmark(face.LeftCorner), landmark(face.RightCorner)
	upper, lower, nose := landmark(face.UpperLip), landmark(face.LowerLip), landmark(face.Nose)
	out := make([]mouth, len(samples))
	for i := range out {
		m := &out[i]
		m.left, m.right = apart(left[i], right[i])
		m.top, m.bottom = upper[i].Y, max(lower[i].Y, upper[i].Y+.04)
		m.nose = min(nose[i].Y+.12, m.top-.05)
		m.pose = [2]float32{nose[i].X + samples[i].moved.X - 1.2, nose[i].Y + samples[i].moved.Y - .45}
		m.line = findLine(samples[i], m)
		m.valley, m.dip = valley(samples[i], m)
	}
	smoothLines(out)
	return out
}

// apart returns the corners of a mouth at least a quarter unit apart: on what
// isn't a face, landmarks can be anywhere.
func apart(left, right face.Point) (face.Point, face.Point) {
	if wider := .25 - (right.X - left.X); wider > 0 {
		left.X -= wider / 2
		right.X += wider / 2
	}
	return left, right
}

// findLine returns the darkest path from one corner of the mouth to the other
// that has lips above and below it, by dynamic programming.
func findLine(s sample, m *mouth) lipLine {
	const rows, away, bend, red, lip = 24, 10, 90, 2.5, .06
	// Costs in grey levels: of a lip height off the middle, of a lip height up
	// or down a column, of a level of redness less on the lips beside the line.
	n := len(lipLine{})
	height := m.lips() / rows
	place := func(k, r int) face.Point {
		x := m.width() * (float32(k)/float32(n-1) - .5)
		return face.Point{X: m.middle() + x, Y: m.top + m.tilt()*x + (float32(r)+.5)*height}
	}
	price := func(q face.Point, r int) float32 {
		above := redness(s.Pixels, s.to.Apply(face.Point{X: q.X, Y: q.Y - lip}))
		below := redness(s.Pixels, s.to.Apply(face.Point{X: q.X, Y: q.Y + lip}))
		return s.Pixels.Soft(s.to.Apply(q)) - red*min(above, below) + away*abs(float32(r)/rows-.45)
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

// smoothLines filters the lines over one frame and a fiftieth of a unit.
func smoothLines(all []mouth) {
	n := len(lipLine{})
	column := make([]float32, len(all))
	for k := range n {
		for i := range all {
			column[i] = all[i].line[k]
		}
		for i, v := range dsp.Gaussian(column, 1) {
			all[i].line[k] = v
		}
	}
	for i := range all {
		copy(all[i].line[:], dsp.Gaussian(all[i].line[:], .8))
	}
}

// valley returns the area of the dip in redness down the middle of the mouth,
// along lines as tilted as the mouth.
func valley(s sample, m *mouth) (area, deepest float32) {
	const rows, columns, above, below, half = 56, 13, .35, .525, .2
	const step = (above + below) / rows
	centre := (m.left.Y + m.right.Y) / 2
	var profile [rows]float32
	for r := range rows {
		for c := range columns {
			x := half * (2*float32(c)/(columns-1) - 1)
			q := face.Point{X: m.middle() + x, Y: centre + m.tilt()*x - above + step*float32(r)}
			profile[r] += redness(s.Pixels, s.to.Apply(q)) / columns
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

// redness returns the red difference (Cr) at a place in the frame.
func redness(p *face.Picture, q face.Point) float32 { return chroma(p.YCbCr, p.Cr, q) }
