package warp

import (
	"math"

	"lipsync/internal/geom"
)

// A field tells for each place of the canonical face around a mouth where its
// pixel comes from when the mouth opens or closes, and how much of it is the
// inside of the mouth that was not seen before.
type field struct {
	left, top     float32 // canonical place of the first cell
	width, height int     // cells
	cells         []cell
}

type cell struct {
	dy    float32 // to the source, canonical
	fill  float32 // 0 the source's pixel, 1 the inside of the mouth
	depth float32 // 0 at the upper lip, 1 at the lower: shades the inside
}

const (
	fieldScale = 64   // cells a canonical unit
	chinBelow  = .62  // of the middle of the mouth
	neckBelow  = .45  // of the chin: nothing moves from here on
	lowerShare = .8   // of an opening is done by the lower lip, the rest by the upper
	chinShare  = .56  // of an opening, for the chin
	reach      = 2.1  // half widths of the mouth: nothing moves beyond
	overlap    = .015 // of closing lips
	teethGrow  = 1.5  // what is seen of the inside of a mouth is stretched by, at most, before more comes into view
)

// fieldArea returns the rectangle of canonical coordinates that a mouth can move.
func fieldArea(m *mouth) (left, top, right, bottom float32) {
	half := reach * m.width() / 2
	return m.middle() - half, m.nose, m.middle() + half, m.line.at(m, m.middle()) + chinBelow + neckBelow
}

// newField returns the field that takes a mouth from being open by from to to.
func newField(m *mouth, from, to float32) *field {
	left, top, right, bottom := fieldArea(m)
	f := &field{left: left, top: top,
		width: int((right-left)*fieldScale) + 2, height: int((bottom-top)*fieldScale) + 2}
	f.cells = make([]cell, f.width*f.height)
	for x := range f.width {
		c := newColumn(m, from, to, left+float32(x)/fieldScale)
		for y := range f.height {
			f.cells[y*f.width+x] = c.at(top + float32(y)/fieldScale)
		}
	}
	return f
}

// column is the field along one x: pieces of the face and where each goes.
type column struct {
	from, to     []float32 // y of the edges between the pieces, before and after
	upper, lower float32   // edges of the lips after
	inner, depth float32   // y of the upper lip's edge before, and how far the inside goes
	stretch      float32   // of what is seen of the inside before
	unseen       float32   // height of the inside below that
	seam         float32   // how dark the line of closing lips is
	fade         float32   // 1 near the mouth, 0 at the end of its reach
}

func newColumn(m *mouth, from, to, x float32) column {
	half := m.width() / 2
	s := (x - m.middle()) / half
	line := m.line.at(m, x)
	chin := m.line.at(m, m.middle()) + chinBelow
	jaw := float32(math.Exp(-float64(sq(max(abs(s)-.55, 0) / .75))))
	sunk := chinShare * (to - from) * jaw
	c := column{fade: smoothstep((reach - abs(s)) / .5)}
	if abs(s) >= 1 {
		c.from = []float32{m.nose, line, chin, chin + neckBelow}
		c.to = []float32{m.nose, line, chin + sunk, chin + neckBelow}
		return c
	}
	round := 1 - s*s
	profile := power(max(1-sq(s/.93), 0), 1.15)
	open := from * round
	u, l := line-.4*open, line+.6*open
	change := (to - from) * profile
	if to < from {
		change = open * (to/max(from, 1e-4) - 1)
	}
	c.upper, c.lower = u-(1-lowerShare)*change, l+lowerShare*change
	closing := clamp(1-to/max(from, 1e-4)) * clamp(open/.02) * power(profile, .3)
	lap := overlap * closing
	top := min(line-(m.line.at(m, m.middle())-m.top)*power(round, .7), u-lap-.02)
	bottom := max(line+(m.bottom-m.line.at(m, m.middle()))*power(round, .7), l+lap+.02)
	c.from = []float32{m.nose, top, u - lap, l + lap, bottom, chin, chin + neckBelow}
	c.to = []float32{m.nose, top - .15*change, c.upper, c.lower, bottom + lowerShare*change, chin + sunk, chin + neckBelow}
	c.inner, c.depth = u, max(l-.01, u)-u
	if gap := l - u + change; change > 0 {
		c.stretch = min(gap/max(l-u, 1e-4), teethGrow)
		c.unseen = gap - c.stretch*(l-u)
	}
	c.seam = .6 * closing
	return c
}

// at returns the cell at y.
func (c *column) at(y float32) (out cell) {
	out.dy = (interpolate(y, c.to, c.from) - y) * c.fade
	if c.lower > c.upper {
		out.depth = clamp((y - c.upper) / (c.lower - c.upper))
	}
	if c.unseen > 0 && y > c.upper && y < c.lower {
		// Teeth stay with the upper lip; what comes into view below is dark.
		const soft = .02
		in := y - c.upper
		out.dy = c.inner + min(in/c.stretch, c.depth) - y
		out.fill = clamp((in-c.stretch*c.depth+soft)/soft) * clamp((c.lower-y)/soft+.2) * clamp(in*fieldScale) * clamp(c.unseen/soft)
	}
	if c.seam > 0 {
		out.fill = max(out.fill, c.seam*float32(math.Exp(-float64(sq((y-(c.upper+c.lower)/2)/.011)))))
	}
	return out
}

// at returns the field at a canonical place; beyond its border nothing moves.
func (f *field) at(p geom.Point) cell {
	x, y := (p.X-f.left)*fieldScale, (p.Y-f.top)*fieldScale
	if x < 0 || y < 0 || x >= float32(f.width-1) || y >= float32(f.height-1) {
		return cell{}
	}
	x0, y0 := int(x), int(y)
	fx, fy := x-float32(x0), y-float32(y0)
	a := f.cells[y0*f.width+x0:]
	b := f.cells[(y0+1)*f.width+x0:]
	wa, wb, wc, wd := (1-fx)*(1-fy), fx*(1-fy), (1-fx)*fy, fx*fy
	return cell{
		dy:    wa*a[0].dy + wb*a[1].dy + wc*b[0].dy + wd*b[1].dy,
		fill:  wa*a[0].fill + wb*a[1].fill + wc*b[0].fill + wd*b[1].fill,
		depth: wa*a[0].depth + wb*a[1].depth + wc*b[0].depth + wd*b[1].depth,
	}
}

// interpolate returns the value at x of the line through the points xs, ys; xs
// grows. Beyond the ends it goes on one to one.
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

func clamp(x float32) float32 { return min(max(x, 0), 1) }

func smoothstep(x float32) float32 {
	x = clamp(x)
	return x * x * (3 - 2*x)
}

func power(x, e float32) float32 { return float32(math.Pow(float64(x), float64(e))) }

func sq(x float32) float32 { return x * x }

func abs(x float32) float32 { return max(x, -x) }
