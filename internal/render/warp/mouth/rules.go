package mouth

import (
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// rule says how to make the pixels at a place of the canonical face.
type rule struct {
	cell             // of the field
	mask  float32    // how opaque the mouth is on the frame, 0 to 1
	under [2]float32 // x and y to the source of the skin under a patch, canonical
	tone  [3]float32 // gain of the mouth's luma, shifts of its Cb and Cr
	here  traits     // of this place and of the next ones to the right and below
}

// traits are properties of a place. A place without any doesn't change.
type traits uint8

const (
	changes traits = 1 << iota // the pixel changes
	seen                       // some of the mouth is seen
	parts                      // lips part here, or there is the line between them
	slides                     // the skin under a patch moves
	jumps                      // dy jumps
)

// traits returns the traits of a place by itself, except changes.
func (r *rule) traits() (t traits) {
	if r.mask > 0 {
		t |= seen
	}
	if r.open > 0 || r.seam > 0 {
		t |= parts
	}
	if r.under != [2]float32{} {
		t |= slides
	}
	if r.jump != 0 {
		t |= jumps
	}
	return t
}

// ruleGrid holds the rules of a grid of places, fieldScale to a canonical unit. They change slowly
// from place to place, so they are made for the grid and not for each pixel.
type ruleGrid struct {
	left, top     float32 // canonical place of the first rule
	width, height int
	rules         []rule // row by row
}

// rulePool keeps the rules of grids.
var rulePool slicePool[rule]

const (
	gridBorder = 2    // rules beyond the region that changes, on each side
	still      = 1e-4 // a place that moves by less doesn't change, canonical
)

// rules returns the rules of the region that changes. Their grid is that of the cells of fields.
func (l *layer) rules() *ruleGrid {
	f := l.field
	g := &ruleGrid{left: floor(l.region.left*fieldScale-gridBorder) / fieldScale, top: floor(l.region.top*fieldScale-gridBorder) / fieldScale}
	left, top := g.first(f)
	g.width, g.height = int((l.region.right-g.left)*fieldScale)+gridBorder+2, int((l.region.bottom-g.top)*fieldScale)+gridBorder+2
	g.rules = rulePool.get(g.width * g.height)
	across := make([]float32, g.width)
	var masks *maskTable
	var skinLeft, skinTop int
	if l.patch != nil {
		masks = l.patch.table()
		for x := range across {
			across[x] = l.patch.across(g.left + float32(x)/fieldScale)
		}
		skinLeft, skinTop = g.first(l.under)
	}
	for y := range g.height {
		c := geom.Point{Y: g.top + float32(y)/fieldScale}
		var along float32
		if l.patch != nil {
			along = l.patch.along(c.Y)
		}
		row := g.rules[y*g.width:][:g.width]
		for x := range row {
			r := &row[x]
			*r = rule{mask: 1, tone: [3]float32{1}}
			if cell := f.cell(x-left, y-top); cell != nil {
				r.cell = *cell
			}
			var changed bool
			if l.patch == nil {
				changed = abs(r.dx) > still || abs(r.down()) > still || r.between() || r.seam > 0
			} else {
				if skin := l.under.cell(x-skinLeft, y-skinTop); skin != nil {
					r.under = [2]float32{skin.dx, skin.down()} // which jumps between the lips, where the patch hides it, and at the corners
				}
				if r.mask = masks.at(across[x] + along); r.mask > 0 {
					c.X = g.left + float32(x)/fieldScale
					r.mask = l.tones.limit(r.mask, l.patch.least(c), c)
					r.tone = l.tones.at(c)
				}
				changed = r.mask > 0 || abs(r.under[0]) > still || abs(r.under[1]) > still
			}
			if r.here = r.traits(); changed {
				r.here |= changes
			}
		}
	}
	g.spread()
	return g
}

// first returns the column and the row of the grid at which the first cell of a field lies.
func (g *ruleGrid) first(f *field) (column, row int) {
	return int(floor((f.left-g.left)*fieldScale + .5)), int(floor((f.top-g.top)*fieldScale + .5))
}

// spread adds to the traits of each place those of the next places to the right and below.
func (g *ruleGrid) spread() {
	for y := range g.height - 1 {
		here, below := g.rules[y*g.width:][:g.width], g.rules[(y+1)*g.width:][:g.width]
		for x := range here[:g.width-1] {
			here[x].here |= here[x+1].here | below[x].here | below[x+1].here
		}
	}
}

// fromFrame returns the similarity from the frame's pixels to the grid's places. onto is that
// from the canonical face to the frame's pixels.
func (g *ruleGrid) fromFrame(onto geom.Similarity) geom.Similarity {
	return onto.Inverse().Then(geom.Similarity{A: fieldScale, X: -fieldScale * g.left, Y: -fieldScale * g.top})
}

// at sets out to the rule at p, interpolated between the places of the grid, and tells whether the
// pixel there changes. p is in steps of the grid, beyond which no pixel changes. To save time at sets
// only the fields that are needed: the tone of luma or those of chroma; and only under if none of the mouth is seen.
func (g *ruleGrid) at(p geom.Point, out *rule, luma bool) (changed bool) {
	x, y := p.X, p.Y
	if !(x >= 0 && y >= 0) || x >= float32(g.width-1) || y >= float32(g.height-1) {
		return false
	}
	x0, y0 := int(x), int(y)
	fx, fy := x-float32(x0), y-float32(y0)
	i := y0*g.width + x0
	if g.rules[i].here&changes == 0 {
		return false
	}
	upper, lower := g.rules[i:i+2], g.rules[i+g.width:i+g.width+2]
	a, b, d, e := &upper[0], &upper[1], &lower[0], &lower[1]
	wa, wb, wd, we := (1-fx)*(1-fy), fx*(1-fy), (1-fx)*fy, fx*fy
	out.mask, out.under = 0, [2]float32{}
	if a.here&slides != 0 {
		for k := range out.under {
			out.under[k] = wa*a.under[k] + wb*b.under[k] + wd*d.under[k] + we*e.under[k]
		}
	}
	if a.here&seen == 0 {
		return true
	}
	out.mask = wa*a.mask + wb*b.mask + wd*d.mask + we*e.mask
	out.dx = wa*a.dx + wb*b.dx + wd*d.dx + we*e.dx
	out.dy = wa*a.dy + wb*b.dy + wd*d.dy + we*e.dy
	out.jump, out.below, out.open, out.shut, out.seam = 0, 0, 0, 0, 0
	if a.here&(jumps|parts) != 0 {
		out.jump = wa*a.jump + wb*b.jump + wd*d.jump + we*e.jump
		out.below = wa*a.below + wb*b.below + wd*d.below + we*e.below
	}
	if a.here&parts != 0 {
		out.open = wa*a.open + wb*b.open + wd*d.open + we*e.open
		out.shut = wa*a.shut + wb*b.shut + wd*d.shut + we*e.shut
		out.seam = wa*a.seam + wb*b.seam + wd*d.seam + we*e.seam
	}
	if luma {
		out.tone[0] = wa*a.tone[0] + wb*b.tone[0] + wd*d.tone[0] + we*e.tone[0]
		return true
	}
	out.tone[1] = wa*a.tone[1] + wb*b.tone[1] + wd*d.tone[1] + we*e.tone[1]
	out.tone[2] = wa*a.tone[2] + wb*b.tone[2] + wd*d.tone[2] + we*e.tone[2]
	return true
}

// lower returns how much of the lips in a pixel is the lower lip. scale is the number of pixels to a canonical unit. Opened lips go over
// into each other behind the inside. If both are the same there, lower returns 0.
func (r *rule) lower(scale float32) float32 {
	if r.jump == 0 {
		return 0
	}
	return pixels.Unit((r.below+max(r.open, 0)/2)*scale + .5)
}

// inside returns the share of a pixel that is the inside of the mouth. Where lips have hardly parted it is a soft line.
func (r *rule) inside(scale float32) float32 {
	if r.open <= 0 || r.shut >= 1 {
		return 0
	}
	thin := smoothstep(r.open / insideThin)
	scale = min(scale, 1/(lipSoft*(1-thin/2)))
	share := pixels.Unit((r.below+r.open)*scale+.5) - pixels.Unit(r.below*scale+.5)
	return max(share, 0) * (1 - r.shut) * (insideLeast + (1-insideLeast)*thin)
}

// lipSoft is the width over which a lip goes over into the inside where lips have hardly parted, canonical; half of it, where the mouth
// is open. By eye.
const lipSoft = .02

// depth is 0 at the upper lip and 1 at the lower one.
func (r *rule) depth() float32 { return pixels.Unit(1 + r.below/max(r.open, leastGap)) }

// over lays the mouth's value over that of the skin, by the mask.
func (r *rule) over(mouth, under float32) uint8 {
	return uint8(min(max(int32(under+(mouth-under)*r.mask+.5), 0), 255))
}
