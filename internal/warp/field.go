package warp

import (
	"math"

	"lipsync/internal/geom"
)

// A field tells for each place of the canonical face around a mouth where its
// pixel comes from when the mouth changes its shape, and how much of it is the
// inside of the mouth that was not seen before.
type field struct {
	left, top     float32 // canonical place of the first cell
	width, height int     // cells
	cells         []cell
}

var spareCells spare[cell]

type cell struct {
	dx, dy float32 // to the source, canonical, as above the inner edge of the lower lip
	jump   float32 // more dy below that edge: what is between the lips and their rolled parts is skipped there
	below  float32 // how far below that edge the place is, negative above it
	open   float32 // how far the lips are apart here
	fill   float32 // of the inside, if it were seen: 0 the source's pixel, 1 what was not seen before
	seam   float32 // how dark the line of closed lips is
	depth  float32 // 0 at the upper lip, 1 at the lower: shades the inside
}

// down returns dy to the source. It jumps at the edge of the lower lip: cells are
// interpolated before, so that the edge is sharp and follows the lip.
func (c *cell) down() float32 {
	if c.below >= 0 {
		return c.dy + c.jump
	}
	return c.dy
}

// filled returns how much of the inside is seen: 0 the source's pixel, 1 what was not
// seen before. It ends at the edges of the lips, which are sharp for the same reason.
func (c *cell) filled() float32 {
	if c.fill == 0 || c.below >= 0 {
		return c.seam
	}
	return max(c.fill*clamp(-c.below/softFill+.2)*clamp((c.below+c.open)*fieldScale), c.seam)
}

const (
	fieldScale = 64   // cells a canonical unit
	chinBelow  = .62  // below the middle of the mouth
	neckBelow  = .45  // below the chin: nothing moves from there on
	upperShare = .25  // of an opening is done by the upper lip, the rest by the lower: .22 was measured on nine people
	chinShare  = .56  // of an opening, for the chin
	reach      = 2.1  // half widths of the mouth: nothing moves beyond
	asideReach = .4   // from a corner outwards: nothing moves sideways beyond
	overlap    = .015 // of closing lips
	seamDark   = .5   // of the colour of the inside in the line between lips that close: the line is then a third darker than the lips, as it was in eight people whose lips touch
	seamHalf   = .026 // height above and below that line at which 1/e of it is left: half as dark is .044 of it, the median of the same
	thinGap    = .03  // between lips: in one of half of it no teeth are seen but lips, with a darker line between them
	softFill   = .02  // over which the inside that was not seen before comes into view
	teethGrow  = 1.5  // the largest vertical stretch of the inside of a mouth; beyond it the rest is filled
	darkGrow   = 3    // that of an inside that is dark, where a stretch is not seen
)

// shape is what a mouth is to look like, canonical.
type shape struct {
	gap   float32    // between the lips, in the middle
	width float32    // from corner to corner
	shift geom.Point // of the mouth as a whole
	flat  float32    // how far raised corners come down to the level of the lips, 0 to 1; an outline turns it into left and right
	left  float32    // by how much the left corner goes down besides
	right float32    // by how much the right corner does
	upper float32    // height of the upper lip, as a multiple of its own
	lower float32    // height of the lower lip, as a multiple of its own
	roll  float32    // share of that height that rolls inwards where they were apart and are pressed together
	tuck  float32    // how far the lower lip goes behind the upper teeth, 0 to 1: then half of its height is seen
}

// region is a canonical rectangle.
type region struct{ left, top, right, bottom float32 }

func (a region) union(b region) region {
	return region{min(a.left, b.left), min(a.top, b.top), max(a.right, b.right), max(a.bottom, b.bottom)}
}

func (a region) intersect(b region) region {
	return region{max(a.left, b.left), max(a.top, b.top), min(a.right, b.right), min(a.bottom, b.bottom)}
}

// fieldArea returns what changes when a mouth takes a shape.
func fieldArea(m *mouth, to shape) region {
	middle, half := m.middle()+to.shift.X, reach*max(m.width(), to.width)/2
	return region{middle - half, m.nose, middle + half, m.level() + chinBelow + neckBelow}
}

// newField returns the part within a region of the field that gives a mouth a shape.
func newField(m *mouth, to shape, within region) *field {
	f := &field{left: within.left, top: within.top,
		width: max(int((within.right-within.left)*fieldScale)+2, 0), height: max(int((within.bottom-within.top)*fieldScale)+2, 0)}
	f.cells = spareCells.take(f.width * f.height)
	columns := make([]column, f.width)
	for x := range columns {
		columns[x] = newColumn(m, to, within.left+float32(x)/fieldScale)
	}
	for y := range f.height {
		row := f.cells[y*f.width:][:f.width]
		for x := range row {
			row[x] = columns[x].at(within.top + float32(y)/fieldScale)
		}
	}
	return f
}

// column is the field along one x: pieces of the face and where each goes.
type column struct {
	from, to     []float32 // y of the edges between the pieces, before and after
	upper, lower float32   // inner edges of the lips after
	inner, depth float32   // y of the upper lip's inner edge before, and how far the inside goes
	stretch      float32   // of what is seen of the inside before
	unseen       float32   // height of the inside below that
	jump         float32   // of dy at the inner edge of the lower lip
	seam         float32   // how dark the line of closed lips is
	closes       float32   // 1 where lips come to touch, 0 where what is between them is seen
	edge         float32   // y of the part of the upper lip before that touches the lower one then
	fade         float32   // 1 near the mouth, 0 at the end of its reach
	aside        float32   // to the source, x
	above, below float32   // y between which all of that movement is made
	nose, chin   float32   // y beyond which none of it is
}

func newColumn(m *mouth, w shape, x float32) column {
	half := w.width / 2
	s := (x - m.middle() - w.shift.X) / half
	c := column{fade: smoothstep((reach - abs(s)) / .5), aside: aside(m, w, s, x)}
	line := m.line.at(m, x+c.aside)
	chin := m.level() + chinBelow
	jaw := float32(math.Exp(-float64(sq(max(abs(s)-.55, 0) / .75))))
	sunk := w.shift.Y + chinShare*(w.gap-m.gap())*jaw
	shift := w.shift.Y + (1-arch(s))*(w.right*clamp(.5+s/2)+w.left*clamp(.5-s/2)) // of what is at the height of the lips
	c.nose, c.above, c.below, c.chin = m.nose, m.top, m.bottom, chin
	if abs(s) >= 1 {
		c.upper, c.lower = line+shift, line+shift
		c.from = []float32{m.nose, line, chin, chin + neckBelow}
		c.to = []float32{m.nose, line + shift, chin + sunk, chin + neckBelow}
		return c
	}
	u, l := m.inner(x + c.aside)
	gap := w.gap * arch(s)
	shut, more := min(gap-(l-u), 0), max(gap-(l-u), 0) // by which the lips close, negative, or open
	c.upper = u + shift - m.above()*shut - upperShare*more
	c.lower = l + shift + (1-m.above())*shut + (1-upperShare)*more
	closed := smoothstep(2 - 2*gap/thinGap)
	closes := closed * clamp((l-u-gap-.002)/.02)
	roll := w.roll * closes // lips that were apart roll inwards as they meet
	lap := overlap * closes
	top, bottom := m.outer(x + c.aside)
	top, bottom = min(top, u-lap-.02), max(bottom, l+lap+.02)
	above, below := c.upper-(u-top)*w.upper*(1-roll), c.lower+(bottom-l)*w.lower*(1-roll)*(1-.5*w.tuck)
	edge, under := u-lap-(u-lap-top)*roll, l+lap+(bottom-l-lap)*roll // of what is seen of the lips
	c.seam = seamDark * closed * clamp((under-edge-gap-.002)/.02)
	c.from = []float32{m.nose, top, edge, under, bottom, chin, chin + neckBelow}
	c.to = []float32{m.nose, max(above, m.nose+.02), c.upper, c.lower, min(below, chin+sunk-.05), chin + sunk, chin + neckBelow}
	c.inner, c.depth, c.stretch, c.closes, c.edge = u, l-u, 1, closes, u-lap
	if gap > l-u+.001 {
		c.depth = max(l-u-.01, 0) // what lies at the edge may be lip
		c.stretch = min(gap/max(l-u, 1e-4), m.grows())
		c.unseen = (gap - c.stretch*(l-u)) * (1 - closed)
	}
	if c.jump = (under - c.lower) * c.fade; c.lower > c.upper {
		c.jump -= c.inside(c.lower)
	} else {
		c.jump -= (edge - c.upper) * c.fade
	}
	return c
}

// inside returns dy between the lips, at y. Teeth stay with the upper lip; lips that
// come to touch hide them.
func (c *column) inside(y float32) float32 {
	from := c.inner + min((y-c.upper)/c.stretch, c.depth)
	return from + (c.edge-from)*c.closes - y
}

// aside returns the distance in x from a place to the source of its pixel. The
// place is at x, s half widths from the middle of the new shape.
func aside(m *mouth, w shape, s, x float32) float32 {
	if abs(s) < 1 {
		return m.middle() + s*m.width()/2 - x
	}
	corner := max(min(s, 1), -1)
	most := corner*(m.width()-w.width)/2 - w.shift.X
	return most * smoothstep(1-(abs(s)-1)*w.width/2/asideReach)
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

// seamAt returns how dark the line of closed lips makes the place at y.
func (c *column) seamAt(y float32) float32 {
	const none = 9 // exp(-9) of the darkest line is a hundredth of a level
	if d := sq((y - (c.upper+c.lower)/2) / seamHalf); c.seam > 0 && d < none {
		return c.seam * float32(math.Exp(-float64(d)))
	}
	return 0
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
		dx:    wa*a[0].dx + wb*a[1].dx + wc*b[0].dx + wd*b[1].dx,
		dy:    wa*a[0].dy + wb*a[1].dy + wc*b[0].dy + wd*b[1].dy,
		jump:  wa*a[0].jump + wb*a[1].jump + wc*b[0].jump + wd*b[1].jump,
		below: wa*a[0].below + wb*a[1].below + wc*b[0].below + wd*b[1].below,
		open:  wa*a[0].open + wb*a[1].open + wc*b[0].open + wd*b[1].open,
		fill:  wa*a[0].fill + wb*a[1].fill + wc*b[0].fill + wd*b[1].fill,
		seam:  wa*a[0].seam + wb*a[1].seam + wc*b[0].seam + wd*b[1].seam,
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
