package mouth

import (
	"math"

	"lipsync/internal/signal/geom"
)

// field describes a mouth that changes its shape. For each place of the canonical face around it,
// the field gives the source of the pixel, and whether the place is between the lips, where the inside of the mouth is seen. It is a grid
// of cells, fieldScale to a canonical unit.
type field struct {
	left, top     float32 // canonical place of the first cell: the cells of all fields lie on one grid
	width, height int     // cells
	cells         []cell  // row by row
}

// cellPool keeps the cells of fields.
var cellPool slicePool[cell]

// cell is one place of a field. Lengths are canonical.
type cell struct {
	dx, dy float32 // from the place to its source, if the place is above the inner edge of the lower lip
	jump   float32 // added to dy below that edge, to skip the inside and the parts of the lips that roll inwards
	below  float32 // how far the place is below that edge; negative above it
	open   float32 // gap between the lips in this column
	shut   float32 // 1 where lips come to touch: the inside between them isn't seen
	seam   float32 // how dark the line between closed lips is here, 0 to 1
}

// down returns dy to the source. It jumps at the edge of the lower lip. Cells are interpolated
// before it is called, so that the edge is sharp and follows the lip.
func (c *cell) down() float32 {
	if c.below >= 0 {
		return c.dy + c.jump
	}
	return c.dy
}

// between tells whether a place is between opened lips.
func (c *cell) between() bool { return c.below < 0 && c.below+c.open > 0 }

// The constants of this package are lengths in canonical units, unless they say otherwise: the
// distance of the pupils is 1, some 63 mm (Dodgson, 2004). Those "by eye" were chosen by looking
// at frames of several people, as on the contact sheets of make quality.

// fieldScale is the number of cells of a field to a canonical unit: about 1 mm each. By eye.
const fieldScale = 64

// Parts of the face, and how far a mouth moves them.
const (
	chinBelow  = .62 // the chin is this far below the level of the mouth; by eye
	neckBelow  = .45 // nothing moves from this far below the chin on; by eye
	reach      = 2.1 // nothing moves farther from the middle of the mouth, in half widths of it; by eye
	reachSoft  = .5  // half widths over which the movement ends before reach; by eye
	asideReach = .4  // cheeks move sideways up to this far outwards from a corner; by eye
	asideLeast = 1.6 // and at least this times as far as the corner moves, so that no cheek folds: 1.5 is the steepest slope of smoothstep

	upperShare = .25 // share of an opening that the upper lip does; the lower lip does the rest. The median of nine people is .22
	chinShare  = .56 // movement of the chin, as a share of an opening; by eye
	jawFlat    = .55 // up to so many half widths from the middle the jaw moves as in the middle; by eye
	jawFall    = .75 // so many half widths beyond that, 1/e of the movement is left; by eye
)

// Lips that close.
const (
	overlap      = .015 // by which they overlap; by eye
	thinGap      = .03  // at half of this gap, some 1 mm, no teeth are seen, but lips with a darker line between them; by eye
	leastClosing = .002 // a gap that shrinks by less doesn't close: that is the error of its reading
	closingSoft  = .02  // a gap that shrinks by so much more closes completely; by eye
	seamDark     = .33  // the line between them is so much darker than the lips: the median of eight people whose lips touch
	seamHalf     = .026 // distance from that line at which 1/e of its darkness is left; the part that is at least half as dark is .044 high: the median of the same people
	seamEnd      = 9    // (distance ÷ seamHalf)² from which on nothing is drawn: exp(-9) of the darkest line is a hundredth of a level
	roundHides   = .07  // height that rounding hides of each lip, and of the skin beside thin ones, where it shuts the sides of the mouth; by eye. At .03 thin red lines went on to the corners
	cornerSoft   = .3   // half widths beyond a corner over which roundHides ends: the dark of a corner, and red beside it, are seen there too; by eye
	tuckHides    = .5   // share of the lower lip's height that the upper teeth hide in f and v; by eye
)

// edgeMore is a change of an opening, either way, by which the edges of lips, which may show teeth, go out of sight completely: lipEdge of each. By eye.
const edgeMore = .04

// Least heights of pieces of a column. No piece turns over, even if a mouth was misread.
const (
	leastLip      = .02
	leastPhiltrum = .02 // between the base of the nose and the upper lip
	leastChin     = .05 // between the lower lip and the chin
	leastGap      = 1e-4
)

// Shape is the form that a mouth is given. Lengths are canonical.
type Shape struct {
	Gap    float32    // between the lips, the mean of the middle half
	Width  float32    // from corner to corner
	Shift  geom.Point // of the mouth as a whole
	round  float32    // how far the lips round, 0 to 1: raised corners come down to the level of the lips, see Outline.Give, and the sides of the opening shut
	Left   float32    // by how much the left corner goes down
	Right  float32    // by how much the right corner goes down
	Upper  float32    // height of the upper lip, as a multiple of its own
	Lower  float32    // height of the lower lip, as a multiple of its own
	hide   float32    // height of the edges of both lips together that lips which are pressed together hide
	crumbs [2]crumbs  // of the upper and the lower lip, which are hidden. A layer sets them; they aren't stored
	roll   float32    // share of the height of the lips that rolls inwards where lips that were apart are pressed together
	tuck   float32    // how far the lower lip goes behind the upper teeth, 0 to 1: at 1 tuckHides of its height is out of sight
	far    float32    // the face around the mouth moves so much farther out than usual, as a share: 0 is as usual, .25 a quarter farther
}

// region is a canonical rectangle.
type region struct{ left, top, right, bottom float32 }

func (a region) union(b region) region {
	return region{min(a.left, b.left), min(a.top, b.top), max(a.right, b.right), max(a.bottom, b.bottom)}
}

func (a region) intersect(b region) region {
	return region{max(a.left, b.left), max(a.top, b.top), min(a.right, b.right), min(a.bottom, b.bottom)}
}

// fieldArea returns the part of the canonical face that changes when a mouth is given a shape.
func fieldArea(m *Lips, to Shape) region {
	middle, half := m.Middle()+to.Shift.X, reach*(1+to.far)*max(m.Width(), to.Width)/2
	return region{middle - half, m.Nose, middle + half, m.Level() + chinBelow + neckBelow*(1+to.far)}
}

// newField returns the field that gives a mouth a shape, as far as it lies within a region.
func newField(m *Lips, to Shape, within region) *field {
	f := &field{left: floor(within.left*fieldScale) / fieldScale, top: floor(within.top*fieldScale) / fieldScale}
	f.width, f.height = max(int((within.right-f.left)*fieldScale)+2, 0), max(int((within.bottom-f.top)*fieldScale)+2, 0)
	f.cells = cellPool.get(f.width * f.height)
	columns := make([]column, f.width)
	for x := range columns {
		columns[x] = newColumn(m, to, f.left+float32(x)/fieldScale)
	}
	for y := range f.height {
		row := f.cells[y*f.width:][:f.width]
		for x := range row {
			columns[x].at(f.top+float32(y)/fieldScale, &row[x])
		}
	}
	return f
}

// cell returns a cell, nil beyond the border.
func (f *field) cell(x, y int) *cell {
	if x < 0 || y < 0 || x >= f.width || y >= f.height {
		return nil
	}
	return &f.cells[y*f.width+x]
}

// at returns the field at a canonical place, between its cells. Beyond its border nothing moves.
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
		shut:  wa*a[0].shut + wb*a[1].shut + wc*b[0].shut + wd*b[1].shut,
		seam:  wa*a[0].seam + wb*a[1].seam + wc*b[0].seam + wd*b[1].seam,
	}
}

// free gives the cells of a field to the next ones.
func (f *field) free() { cellPool.put(f.cells) }

// jawShare returns the share of the chin's movement at a distance of s half widths of the mouth to
// the side of its middle. It is 1 in the middle.
func jawShare(s float32) float32 {
	beyond := abs(s) - jawFlat
	if beyond <= 0 {
		return 1
	}
	return float32(math.Exp(-float64(square(beyond / jawFall))))
}
