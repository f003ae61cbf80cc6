package warp

import "lipsync/internal/signal/geom"

// rule says how to make the pixels at a place of the canonical face.
type rule struct {
	cell            // of the field
	mask float32    // how opaque the mouth is on the frame, 0 to 1
	sink float32    // how far down the skin under a patch moves, canonical
	tone [3]float32 // gain of the mouth's luma, shifts of its Cb and Cr
	here traits     // of this place and of the next ones to the right and below
}

// traits are properties of a place. A place without any doesn't change.
type traits uint8

const (
	changes traits = 1 << iota // the pixel changes
	seen                       // some of the mouth is seen
	fills                      // there is some of the unseen inside, or of the line between the lips
	sinks                      // the skin moves down
	jumps                      // dy jumps
)

// traits returns the traits of a place by itself, except changes.
func (r *rule) traits() (t traits) {
	if r.mask > 0 {
		t |= seen
	}
	if r.fill > 0 || r.seam > 0 {
		t |= fills
	}
	if r.sink != 0 {
		t |= sinks
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

// rules returns the rules of the region that changes. Their grid is that of the field's cells, and
// goes on beyond them.
func (l *layer) rules() *ruleGrid {
	f := l.field
	left, top := int((f.left-l.region.left)*fieldScale)+gridBorder, int((f.top-l.region.top)*fieldScale)+gridBorder
	g := &ruleGrid{left: f.left - float32(left)/fieldScale, top: f.top - float32(top)/fieldScale}
	g.width, g.height = int((l.region.right-g.left)*fieldScale)+gridBorder+2, int((l.region.bottom-g.top)*fieldScale)+gridBorder+2
	g.rules = rulePool.get(g.width * g.height)
	columns := make([]struct{ aside, across float32 }, g.width)
	var masks *maskTable
	if l.patch != nil {
		masks = l.patch.table()
		for x := range columns {
			at := g.left + float32(x)/fieldScale
			columns[x].aside, columns[x].across = l.patch.aside(at), l.patch.across(at)
		}
	}
	for y := range g.height {
		c := geom.Point{Y: g.top + float32(y)/fieldScale}
		var down, along float32
		if l.patch != nil {
			down, along = l.patch.down(c.Y), l.patch.along(c.Y)
		}
		row := g.rules[y*g.width:][:g.width]
		for x := range row {
			r := &row[x]
			*r = rule{mask: 1, tone: [3]float32{1}}
			if k, j := x-left, y-top; k >= 0 && j >= 0 && k < f.width && j < f.height {
				r.cell = f.cells[j*f.width+k]
			}
			var changed bool
			if l.patch == nil {
				changed = abs(r.dx) > still || abs(r.down()) > still || r.filled() > 0
			} else {
				r.sink = columns[x].aside * down
				if r.mask = masks.at(columns[x].across + along); r.mask > 0 {
					c.X = g.left + float32(x)/fieldScale
					if u := l.patch.usual; u != nil {
						r.mask = l.tones.limit(r.mask, u.mask(c), c)
					}
					r.tone = l.tones.at(c)
				}
				changed = r.mask > 0 || abs(r.sink) > still
			}
			if r.here = r.traits(); changed {
				r.here |= changes
			}
		}
	}
	g.spread()
	return g
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
// only the fields that are needed: the tone of luma or those of chroma; the depth only if something is
// filled; and only sink if none of the mouth is seen.
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
	out.mask, out.sink = 0, 0
	if a.here&sinks != 0 {
		out.sink = wa*a.sink + wb*b.sink + wd*d.sink + we*e.sink
	}
	if a.here&seen == 0 {
		return true
	}
	out.mask = wa*a.mask + wb*b.mask + wd*d.mask + we*e.mask
	out.dx = wa*a.dx + wb*b.dx + wd*d.dx + we*e.dx
	out.dy = wa*a.dy + wb*b.dy + wd*d.dy + we*e.dy
	if a.here&(jumps|fills) != 0 {
		out.below = wa*a.below + wb*b.below + wd*d.below + we*e.below
	}
	out.jump, out.fill, out.seam = 0, 0, 0
	if a.here&jumps != 0 {
		out.jump = wa*a.jump + wb*b.jump + wd*d.jump + we*e.jump
	}
	if a.here&fills != 0 {
		out.open = wa*a.open + wb*b.open + wd*d.open + we*e.open
		out.fill = wa*a.fill + wb*b.fill + wd*d.fill + we*e.fill
		out.seam = wa*a.seam + wb*b.seam + wd*d.seam + we*e.seam
		out.depth = wa*a.depth + wb*b.depth + wd*d.depth + we*e.depth
	}
	if luma {
		out.tone[0] = wa*a.tone[0] + wb*b.tone[0] + wd*d.tone[0] + we*e.tone[0]
		return true
	}
	out.tone[1] = wa*a.tone[1] + wb*b.tone[1] + wd*d.tone[1] + we*e.tone[1]
	out.tone[2] = wa*a.tone[2] + wb*b.tone[2] + wd*d.tone[2] + we*e.tone[2]
	return true
}

// The luma of the unseen inside is that of the person's darkest colour there, times insideTop at the
// upper lip. Down to the lower lip insideBottom is added to that factor, by the depth to the power of
// 1.5. By eye.
const insideTop, insideBottom = .8, .45

// lip returns the share of a pixel that is the lower lip. The rest of the pixel is the inside of the
// mouth. scale is the number of pixels to a canonical unit. If both are the same there, lip returns 0.
func (r *rule) lip(scale float32) float32 {
	if r.jump == 0 && r.fill == 0 {
		return 0
	}
	return clamp(r.below*scale + .5)
}

// toned returns the value of a channel of the mouth (0 to 2 for Y, Cb and Cr), in the tone of the
// face around it and with the unseen inside. dark is the colour of the unseen inside.
func (r *rule) toned(channel int, mouth float32, dark *[3]float32) float32 {
	v := mouth + r.tone[channel]
	if channel == 0 {
		v = mouth * r.tone[0]
	}
	if fill := r.filled(); fill > 0 {
		inside := dark[channel]
		if channel == 0 {
			inside *= insideTop + insideBottom*r.depth*sqrt(r.depth)
		}
		v += (inside - v) * fill
	}
	return v
}

// over lays the mouth's value over that of the skin, by the mask.
func (r *rule) over(mouth, under float32) uint8 {
	return uint8(min(max(int32(under+(mouth-under)*r.mask+.5), 0), 255))
}
