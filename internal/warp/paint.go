package warp

import (
	"image"
	"math"

	"lipsync/internal/face"
	"lipsync/internal/render"
)

// Of a patch, canonical: its half width, how far below the closed lips it
// reaches, and by how much of the opening more; the width of its soft edge as a
// share of it.
const (
	patchHalf, patchBelow, patchGrow, patchSoft = .66, .42, .4, .3
	bulge                                       = 2.5    // exponent of its superellipse
	solid                                       = .40996 // (1-patchSoft)^bulge: up to this sum of powers the mask is 1
)

// brush is what painting one frame needs.
type brush struct {
	frame  *image.YCbCr    // that is painted on
	pixels *image.YCbCr    // that the mouth comes from
	onto   face.Similarity // from the canonical face to the frame
	back   face.Similarity // and the other way
	to     face.Similarity // from the canonical face to pixels
	field  *field
	dark   [3]float32
	patch  *patch // nil where the mouth is the frame's own
}

// patch is a mouth from another frame: where it lies on the canonical face.
type patch struct {
	middle, top, bottom float32
	line                float32 // between the closed lips
	half                float32 // half the width of the mouth underneath
	sink                float32 // of the chin underneath
	tones               *tones
}

// paint returns the mouth of one frame, and whether there is anything to paint.
func paint(frame *image.YCbCr, r role) (render.Mouth, bool) {
	own := &r.take.looks[r.look]
	b := &brush{frame: frame, pixels: frame, onto: own.to, back: own.to.Inverse(), to: own.to, dark: r.take.person.dark}
	left, top, right, bottom := fieldArea(&own.mouth)
	if r.example < 0 {
		b.field = newField(&own.mouth, r.open, r.want)
	} else {
		e := &r.take.person.bank.examples[r.example]
		shown := e.shown()
		b.pixels, b.to = e.pixels, shown.to
		b.field = newField(&shown.mouth, r.open, r.want)
		b.patch = newPatch(own, r)
		left, right = min(left, b.patch.middle-patchHalf), max(right, b.patch.middle+patchHalf)
	}
	area := bounds(own.to, left, top, right, bottom).Intersect(face.Even(frame.Rect))
	if area.Empty() {
		return render.Mouth{}, false
	}
	if b.patch != nil {
		b.patch.tones = b.match()
	}
	return b.fill(area), true
}

func newPatch(own *look, r role) *patch {
	line, open := r.take.person.line, r.take.opening[r.look]
	below := patchBelow + patchGrow*max(r.want, open)
	top := own.nose + .02
	return &patch{
		middle: own.middle(), top: top, bottom: max(line+min(below, chinBelow+.3), top+.4),
		line: line, half: own.width() / 2, sink: chinShare * (r.want - open),
	}
}

// mask tells how much of the patch is seen at a canonical place.
func (p *patch) mask(c face.Point) float32 {
	x := abs(c.X-p.middle) / patchHalf
	y := abs(c.Y-(p.top+p.bottom)/2) / ((p.bottom - p.top) / 2)
	if x >= 1 || y >= 1 {
		return 0
	}
	d := x*x*sqrt(x) + y*y*sqrt(y)
	if d <= solid {
		return 1
	}
	return smoothstep((1 - power(d, 1/bulge)) / patchSoft)
}

// chin tells how far down the skin at a canonical place moves with the chin.
func (p *patch) chin(c face.Point) float32 {
	chin := p.line + chinBelow
	down := smoothstep((c.Y - p.line) / chinBelow)
	if c.Y > chin {
		down = clamp((chin + neckBelow - c.Y) / neckBelow)
	}
	aside := abs(c.X-p.middle)/p.half - .55
	if down == 0 || aside <= 0 {
		return p.sink * down
	}
	return p.sink * down * float32(math.Exp(-float64(sq(aside/.75))))
}

// spot is what one pixel becomes.
type spot struct {
	from        face.Point // place of the mouth's pixel, in the brush's pixels
	under       face.Point // place of the skin's pixel under a patch, in the frame
	mask        float32
	fill, depth float32
	tone        [3]float32 // gain of luma, shifts of Cb and Cr
	changes     bool
}

// at traces one place of the frame.
func (b *brush) at(q face.Point) (s spot) {
	c := b.back.Apply(q)
	f := b.field.at(c)
	s.fill, s.depth, s.under, s.mask, s.tone = f.fill, f.depth, q, 1, [3]float32{1}
	if b.patch == nil {
		s.changes = abs(f.dy) > 1e-4 || f.fill > 0
	} else {
		s.mask = b.patch.mask(c)
		if sink := b.patch.chin(c); abs(sink) > 1e-4 {
			s.under = b.onto.Apply(face.Point{X: c.X, Y: c.Y - sink})
			s.changes = true
		}
		s.changes = s.changes || s.mask > 0
	}
	if s.changes && s.mask > 0 {
		s.from = b.to.Apply(face.Point{X: c.X, Y: c.Y + f.dy})
		if b.patch != nil {
			s.tone = b.patch.tones.at(c)
		}
	}
	return s
}

// mix returns the value of one channel: the mouth's, with what is inside it,
// over the skin's.
func (s *spot) mix(channel int, mouth, under float32, dark [3]float32) uint8 {
	inside, v := dark[channel], mouth+s.tone[channel]
	if channel == 0 {
		inside *= .8 + .45*s.depth*sqrt(s.depth)
		v = mouth * s.tone[0]
	}
	v += (inside - v) * s.fill
	return uint8(min(max(under+(v-under)*s.mask+.5, 0), 255))
}

// fill paints the area.
func (b *brush) fill(area image.Rectangle) render.Mouth {
	m := render.Mouth{Image: image.NewYCbCr(area, image.YCbCrSubsampleRatio420), Mask: image.NewAlpha(area)}
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			s := b.at(face.Point{X: float32(x), Y: float32(y)})
			if !s.changes {
				continue
			}
			m.Mask.Pix[m.Mask.PixOffset(x, y)] = 255
			under, mouth := luma(b.frame, s.under), float32(0)
			if s.mask > 0 {
				mouth = sharpLuma(b.pixels, s.from)
			}
			m.Image.Y[m.Image.YOffset(x, y)] = s.mix(0, mouth, under, b.dark)
		}
	}
	for y := area.Min.Y; y < area.Max.Y; y += 2 {
		for x := area.Min.X; x < area.Max.X; x += 2 {
			s := b.at(face.Point{X: float32(x) + .5, Y: float32(y) + .5})
			i := m.Image.COffset(x, y)
			if !s.changes {
				k := b.frame.COffset(x, y)
				m.Image.Cb[i], m.Image.Cr[i] = b.frame.Cb[k], b.frame.Cr[k]
				continue
			}
			m.Image.Cb[i] = s.mix(1, chroma(b.pixels, b.pixels.Cb, s.from), chroma(b.frame, b.frame.Cb, s.under), b.dark)
			m.Image.Cr[i] = s.mix(2, chroma(b.pixels, b.pixels.Cr, s.from), chroma(b.frame, b.frame.Cr, s.under), b.dark)
		}
	}
	return m
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }
