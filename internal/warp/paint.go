package warp

import (
	"image"
	"math"

	"lipsync/internal/geom"
	"lipsync/internal/pixels"
	"lipsync/internal/render"
)

// Of a patch, canonical: its least half width, how far below the closed lips it
// reaches, and by how much of the opening more; the width of its soft edge as a
// share of it.
const (
	patchHalf, patchBelow, patchGrow, patchSoft = .66, .42, .4, .3
	bulge                                       = 2.5 // exponent of its superellipse
)

// brush is what painting one frame needs.
type brush struct {
	frame  *image.YCbCr    // that is painted on
	pixels *image.YCbCr    // that the mouth comes from
	onto   geom.Similarity // from the canonical face to the frame
	to     geom.Similarity // from the canonical face to pixels
	field  *field          // of a patch, as far as that reaches
	dark   [3]float32
	patch  *patch // nil where the mouth is the frame's own
	tones  *tones // of the patch
	region region // of all that changes
}

// patch is a mouth from another frame: where it lies on the canonical face.
type patch struct {
	middle, top, bottom float32
	side                float32 // from the middle to its edges
	line                float32 // between the closed lips
	half                float32 // half the width of the mouth underneath
	sink                float32 // of the chin underneath
}

// paint returns the mouth of one frame, and whether there is anything to paint.
func paint(frame *image.YCbCr, t target) (render.Mouth, bool) {
	own := &t.track.frames[t.frame]
	brushes := []*brush{newBrush(frame, t, t.example, t.shape)}
	if t.share > 0 {
		brushes = append(brushes, newBrush(frame, t, t.other, t.otherShape))
	}
	var area image.Rectangle
	for _, b := range brushes {
		area = area.Union(bounds(own.to, b.region))
	}
	area = area.Intersect(pixels.Even(frame.Rect))
	if area.Empty() {
		return render.Mouth{}, false
	}
	m := brushes[0].fill(area)
	if t.share > 0 {
		blend(&m, brushes[1].fill(area), frame, t.share)
	}
	for _, b := range brushes {
		spareCells.give(b.field.cells)
	}
	return m, true
}

// newBrush returns what paints an example (-1: the frame's own mouth) in a shape.
func newBrush(frame *image.YCbCr, t target, example int, to shape) *brush {
	p, own := t.track.person, &t.track.frames[t.frame]
	b := &brush{frame: frame, pixels: frame, onto: own.to, to: own.to, dark: p.dark}
	shown := own
	if example >= 0 {
		e := &p.bank.examples[example]
		shown = e.shown()
		b.pixels, b.to = e.pixels, shown.to
		b.patch = newPatch(p, own, to)
	}
	b.region = fieldArea(&shown.mouth, to)
	if b.patch == nil {
		b.field = newField(&shown.mouth, to, b.region)
		return b
	}
	within := b.patch.region()
	b.field = newField(&shown.mouth, to, b.region.intersect(within))
	within.bottom = max(within.bottom, p.line+chinBelow+neckBelow)
	b.region = b.region.union(within)
	b.tones = b.match()
	return b
}

// blend mixes a share of what the other mouth paints into m. Both have the same
// shape; where only one of them paints, the other shows the frame.
func blend(m *render.Mouth, other render.Mouth, frame *image.YCbCr, share float32) {
	mix := func(a *uint8, b uint8) { *a = uint8(float32(*a) + (float32(b)-float32(*a))*share + .5) }
	for y := m.Image.Rect.Min.Y; y < m.Image.Rect.Max.Y; y++ {
		for x := m.Image.Rect.Min.X; x < m.Image.Rect.Max.X; x++ {
			k, i := m.Mask.PixOffset(x, y), m.Image.YOffset(x, y)
			mine, theirs := m.Mask.Pix[k] > 0, other.Mask.Pix[k] > 0
			under := frame.Y[frame.YOffset(x, y)]
			if !mine {
				m.Image.Y[i] = under
			}
			if theirs {
				under = other.Image.Y[i]
			}
			mix(&m.Image.Y[i], under)
			m.Mask.Pix[k] |= other.Mask.Pix[k]
		}
	}
	for i, v := range other.Image.Cb {
		mix(&m.Image.Cb[i], v)
		mix(&m.Image.Cr[i], other.Image.Cr[i])
	}
}

func newPatch(p *person, own *observation, to shape) *patch {
	below := patchBelow + patchGrow*max(to.gap, own.gap())
	top := own.nose + .02
	return &patch{
		middle: own.middle(), top: top, bottom: max(p.line+min(below, chinBelow+.3), top+.4),
		side: max(patchHalf, own.width()/2/(1-patchSoft)), // the corners are not where its edge is soft
		line: p.line, half: own.width() / 2, sink: chinShare * (to.gap - own.gap()),
	}
}

// region returns where the patch lies.
func (p *patch) region() region {
	return region{p.middle - p.side, p.top, p.middle + p.side, p.bottom}
}

// mask tells how much of the patch is seen at a canonical place.
func (p *patch) mask(c geom.Point) float32 { return maskAt(p.across(c.X) + p.along(c.Y)) }

// across and along are what the distance of a place from the patch's middle adds to the sum
// of powers of a superellipse, on which the mask depends.
func (p *patch) across(x float32) float32 { return swell(abs(x-p.middle) / p.side) }

func (p *patch) along(y float32) float32 {
	return swell(abs(y-(p.top+p.bottom)/2) / ((p.bottom - p.top) / 2))
}

// swell returns x to the power of bulge.
func swell(x float32) float32 { return x * x * sqrt(x) }

// masks holds the mask at even steps of the sum of powers, from 0 to 1.
var masks = func() (m [513]float32) {
	for i := range m {
		m[i] = smoothstep((1 - power(float32(i)/float32(len(m)-1), 1/bulge)) / patchSoft)
	}
	return m
}()

// maskAt returns the mask at a sum of powers.
func maskAt(sum float32) float32 {
	if !(sum < 1) {
		return 0
	}
	at := sum * float32(len(masks)-1)
	i := int(at)
	return masks[i] + (masks[i+1]-masks[i])*(at-float32(i))
}

// down returns how far the skin at a height y of the canonical face moves down with
// the chin, below the middle of the mouth.
func (p *patch) down(y float32) float32 {
	chin := p.line + chinBelow
	if y > chin {
		return p.sink * clamp((chin+neckBelow-y)/neckBelow)
	}
	return p.sink * smoothstep((y-p.line)/chinBelow)
}

// aside returns how much of that movement is left at x, 1 in the middle.
func (p *patch) aside(x float32) float32 {
	beyond := abs(x-p.middle)/p.half - .55
	if beyond <= 0 {
		return 1
	}
	return float32(math.Exp(-float64(sq(beyond / .75))))
}

// recipe tells what becomes of a place on the canonical face.
type recipe struct {
	cell            // of the field
	mask float32    // how much of the mouth is seen
	sink float32    // how far down the skin under a patch moves, canonical
	tone [3]float32 // gain of the mouth's luma, shifts of its Cb and Cr
	here traits     // and in the next places to the right and below
}

// traits tell what there is at a place. Without any nothing changes there.
type traits uint8

const (
	moves traits = 1 << iota // or is painted otherwise
	seen                     // some of the mouth
	fills                    // some of its inside
	sinks                    // the skin
	jumps                    // dy
)

// traits returns those of a place by itself.
func (r *recipe) traits() (t traits) {
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

// recipes are those of a grid of places, fieldScale to a canonical unit. What they
// say changes slowly, so it is worked out for the grid and not for each pixel.
type recipes struct {
	left, top     float32
	width, height int
	cells         []recipe
}

var spareRecipes spare[recipe]

// plan works out the recipes of all that changes. Their places are those of the field's cells,
// and go on beyond these.
func (b *brush) plan() *recipes {
	const margin = 2 // cells
	f := b.field
	left, top := int((f.left-b.region.left)*fieldScale)+margin, int((f.top-b.region.top)*fieldScale)+margin
	g := &recipes{left: f.left - float32(left)/fieldScale, top: f.top - float32(top)/fieldScale}
	g.width, g.height = int((b.region.right-g.left)*fieldScale)+margin+2, int((b.region.bottom-g.top)*fieldScale)+margin+2
	g.cells = spareRecipes.take(g.width * g.height)
	columns := make([]struct{ aside, across float32 }, g.width)
	if b.patch != nil {
		for x := range columns {
			at := g.left + float32(x)/fieldScale
			columns[x].aside, columns[x].across = b.patch.aside(at), b.patch.across(at)
		}
	}
	for y := range g.height {
		c := geom.Point{Y: g.top + float32(y)/fieldScale}
		var down, along float32
		if b.patch != nil {
			down, along = b.patch.down(c.Y), b.patch.along(c.Y)
		}
		row := g.cells[y*g.width:][:g.width]
		for x := range row {
			r := &row[x]
			*r = recipe{mask: 1, tone: [3]float32{1}}
			if k, j := x-left, y-top; k >= 0 && j >= 0 && k < f.width && j < f.height {
				r.cell = f.cells[j*f.width+k]
			}
			live := false
			if b.patch == nil {
				live = abs(r.dx) > still || abs(r.down()) > still || r.filled() > 0
			} else {
				r.sink = columns[x].aside * down
				if r.mask = maskAt(columns[x].across + along); r.mask > 0 {
					c.X = g.left + float32(x)/fieldScale
					r.tone = b.tones.at(c)
				}
				live = r.mask > 0 || abs(r.sink) > still
			}
			if r.here = r.traits(); live {
				r.here |= moves
			}
		}
	}
	g.spread()
	return g
}

const still = 1e-4 // canonical: what moves less stays

// spread adds the traits of the next places to the right and below to those of each place.
func (g *recipes) spread() {
	for y := range g.height - 1 {
		here, below := g.cells[y*g.width:][:g.width], g.cells[(y+1)*g.width:][:g.width]
		for x := range here[:g.width-1] {
			here[x].here |= here[x+1].here | below[x].here | below[x+1].here
		}
	}
}

// fromFrame returns the similarity from the frame's pixels to the grid's places.
func (g *recipes) fromFrame(onto geom.Similarity) geom.Similarity {
	return onto.Inverse().Then(geom.Similarity{A: fieldScale, X: -fieldScale * g.left, Y: -fieldScale * g.top})
}

// at returns the recipe between the grid's places, and whether anything changes
// there. Nothing does beyond the grid. Of the tones it returns those of luma, or else
// those of chroma; of what is not filled it returns no depth, and of what is not seen nothing
// except how far the skin sinks.
func (g *recipes) at(p geom.Point, out *recipe, luma bool) (changes bool) {
	x, y := p.X, p.Y
	if !(x >= 0 && y >= 0) || x >= float32(g.width-1) || y >= float32(g.height-1) {
		return false
	}
	x0, y0 := int(x), int(y)
	fx, fy := x-float32(x0), y-float32(y0)
	i := y0*g.width + x0
	if g.cells[i].here&moves == 0 {
		return false
	}
	upper, lower := g.cells[i:i+2], g.cells[i+g.width:i+g.width+2]
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

// lip returns the share of a pixel that is the lower lip, if a canonical unit has so many
// pixels. Above its edge the pixel is what lies between the lips; where that
// makes no difference, lip returns 0.
func (r *recipe) lip(scale float32) float32 {
	if r.jump == 0 && r.fill == 0 {
		return 0
	}
	return clamp(r.below*scale + .5)
}

// toned returns the value of one channel of the mouth in its tone, with what is inside it.
func (r *recipe) toned(channel int, mouth float32, dark *[3]float32) float32 {
	v := mouth + r.tone[channel]
	if channel == 0 {
		v = mouth * r.tone[0]
	}
	if fill := r.filled(); fill > 0 {
		inside := dark[channel]
		if channel == 0 {
			inside *= .8 + .45*r.depth*sqrt(r.depth)
		}
		v += (inside - v) * fill
	}
	return v
}

// over lays the mouth's value over the skin's.
func (r *recipe) over(mouth, under float32) uint8 {
	return uint8(min(max(int32(under+(mouth-under)*r.mask+.5), 0), 255))
}

// fill paints an area.
func (b *brush) fill(area image.Rectangle) render.Mouth {
	g := b.plan()
	defer spareRecipes.give(g.cells)
	m := render.Mouth{Image: image.NewYCbCr(area, image.YCbCrSubsampleRatio420), Mask: image.NewAlpha(area)}
	toGrid, toMouth := g.fromFrame(b.onto), b.onto.Inverse().Then(b.to)
	shown, left, top := pixels.Luma(b.pixels), float32(b.pixels.Rect.Min.X), float32(b.pixels.Rect.Min.Y)
	scale := b.onto.Scale()
	var r recipe
	luma := func(q geom.Point) float32 {
		q = move(toMouth.Apply(q), &b.to, r.dx, r.down())
		return r.toned(0, shown.CatmullRom(q.X-left, q.Y-top), &b.dark)
	}
	for y := area.Min.Y; y < area.Max.Y; y++ {
		alpha := m.Mask.Pix[m.Mask.PixOffset(area.Min.X, y):][:area.Dx()]
		out, own := m.Image.Y[m.Image.YOffset(area.Min.X, y):][:area.Dx()], b.frame.Y[b.frame.YOffset(area.Min.X, y):][:area.Dx()]
		for i := range alpha {
			q := geom.Point{X: float32(area.Min.X + i), Y: float32(y)}
			if !g.at(toGrid.Apply(q), &r, true) {
				continue
			}
			var under, mouth float32
			switch {
			case r.mask == 1:
			case r.sink == 0:
				under = float32(own[i])
			default:
				under = pixels.LumaAt(b.frame, move(q, &b.onto, 0, -r.sink))
			}
			if r.mask > 0 {
				lip := r.lip(scale)
				if lip < 1 {
					r.below = min(r.below, -1e-6)
					mouth = (1 - lip) * luma(q)
				}
				if lip > 0 {
					r.below = max(r.below, 0)
					mouth += lip * luma(q)
				}
			}
			alpha[i], out[i] = 255, r.over(mouth, under)
		}
	}
	for y := area.Min.Y; y < area.Max.Y; y += 2 {
		for x := area.Min.X; x < area.Max.X; x += 2 {
			q := geom.Point{X: float32(x) + .5, Y: float32(y) + .5}
			i := m.Image.COffset(x, y)
			if !g.at(toGrid.Apply(q), &r, false) {
				k := b.frame.COffset(x, y)
				m.Image.Cb[i], m.Image.Cr[i] = b.frame.Cb[k], b.frame.Cr[k]
				continue
			}
			var cb, cr, cbUnder, crUnder float32
			if r.mask > 0 {
				cb, cr = pixels.ChromaAt(b.pixels, move(toMouth.Apply(q), &b.to, r.dx, r.down()))
				cb, cr = r.toned(1, cb, &b.dark), r.toned(2, cr, &b.dark)
			}
			if r.mask < 1 {
				cbUnder, crUnder = pixels.ChromaAt(b.frame, move(q, &b.onto, 0, -r.sink))
			}
			m.Image.Cb[i], m.Image.Cr[i] = r.over(cb, cbUnder), r.over(cr, crUnder)
		}
	}
	return m
}

// move moves a place of a picture by canonical distances, to the right and down on
// the face that lies in it.
func move(q geom.Point, to *geom.Similarity, right, down float32) geom.Point {
	return geom.Point{X: q.X + to.A*right - to.B*down, Y: q.Y + to.B*right + to.A*down}
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }
