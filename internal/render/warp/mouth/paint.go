package mouth

import (
	"image"

	"lipsync/internal/render/engine"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// layer is one mouth on one frame, ready to be painted: the frame's own, or that of an example.
type layer struct {
	frame  *image.YCbCr    // the picture that is painted on
	pixels *image.YCbCr    // the picture that the mouth comes from
	onto   geom.Similarity // from the canonical face to the frame's pixels
	to     geom.Similarity // from the canonical face to the mouth's pixels
	lips   *Lips           // of the mouth
	shape  Shape           // that it gets
	field  *field          // with a patch, only of the part that it covers
	under  *field          // of the frame's own mouth under a patch; nil without one
	inside *inside
	patch  *patch // nil if the mouth is the frame's own
	tones  *tones // of the patch
	region region // holds everything that changes
	blur   blur   // by which the frame is more blurred than the mouth
}

// Wanted is the mouth that one frame shows.
type Wanted struct {
	Person  *Person
	Own     Observation // of the frame
	Example *Example    // whose mouth is shown; nil: the frame's own
	Shape   Shape       // of the shown mouth
	Under   Shape       // that the frame's own mouth gets under an example, so that the skin around the example fits

	Share      float32  // of the other example, 0 to 1
	Other      *Example // the other example
	OtherShape Shape    // of the other example
}

// Paint returns the mouth of one frame, and whether there is anything to paint.
func Paint(frame *image.YCbCr, w *Wanted) (engine.Mouth, bool) {
	now := lookOf(frame, w.Own.To)
	var under *field
	if w.Example != nil {
		under = newField(&w.Own.Lips, w.Under, fieldArea(&w.Own.Lips, w.Under))
		defer under.free()
	}
	layers := []*layer{newLayer(frame, w, under, now, w.Example, w.Shape)}
	if w.Share > 0 {
		layers = append(layers, newLayer(frame, w, under, now, w.Other, w.OtherShape))
	}
	var area image.Rectangle
	for _, l := range layers {
		area = area.Union(bounds(w.Own.To, l.region))
	}
	area = area.Intersect(pixels.Even(frame.Rect))
	if area.Empty() {
		return engine.Mouth{}, false
	}
	m := layers[0].paint(area)
	if w.Share > 0 {
		blend(&m, layers[1].paint(area), frame, w.Share)
	}
	for _, l := range layers {
		l.field.free()
	}
	return m, true
}

// newLayer returns the layer of an example in a shape, as a frame that looks as now would show it. An example of nil is the frame's own mouth.
// under is the field of the frame's own mouth under an example.
func newLayer(frame *image.YCbCr, w *Wanted, under *field, now look, example *Example, to Shape) *layer {
	p, own := w.Person, &w.Own
	l := &layer{frame: frame, pixels: frame, onto: own.To, to: own.To}
	share := float32(1)
	shown, usual := own, p.look // the edges and the inside that are drawn into a frame's own mouth are as sharp as usual
	if e := example; e != nil {
		shown, usual, share = &e.Shown, e.look, 0
		l.pixels, l.to = relightingOf(e.look.light, now.light).picture(e.Pixels), shown.To
		to.crumbs = e.crumbs()
		l.patch, l.under = newPatch(p, own, to), under
	}
	l.blur, l.lips, l.shape = now.blur.beyond(usual.blur), &shown.Lips, to
	lip := colourOfLips(frame, own.To, &own.Lips)
	l.inside = newInside(p, pane{pixels: l.pixels, to: l.to, lips: &shown.Lips, share: share}, to, own.Nose, lip, now.light)
	l.region = fieldArea(&shown.Lips, to)
	if l.patch == nil {
		l.field = newField(&shown.Lips, to, l.region)
		return l
	}
	within := l.patch.region()
	compared := within
	if u := l.patch.usual; u != nil {
		compared = within.union(u.region())
	}
	l.field = newField(&shown.Lips, to, l.region.intersect(compared))
	l.region = within.union(fieldArea(&own.Lips, w.Under))
	l.tones = l.match()
	return l
}

// blend mixes a share (0 to 1) of another painted mouth into m. Both cover the same area. Where only
// one of them was painted, the other shows the frame.
func blend(m *engine.Mouth, other engine.Mouth, frame *image.YCbCr, share float32) {
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

// paint returns the layer in an area of the frame. The area has even edges.
func (l *layer) paint(area image.Rectangle) engine.Mouth {
	rules := l.rules()
	defer rulePool.put(rules.rules)
	m := engine.Mouth{Image: image.NewYCbCr(area, image.YCbCrSubsampleRatio420), Mask: image.NewAlpha(area)}
	l.paintLuma(&m, rules)
	l.paintChroma(&m, rules)
	l.soften(&m)
	return m
}

// paintLuma sets the mask, and the luma where the mask is not 0. The edge of the lower lip is exact
// to a share of a pixel: a pixel on it mixes the lip with the inside of the mouth.
func (l *layer) paintLuma(m *engine.Mouth, rules *ruleGrid) {
	toGrid, toFace, toMouth := rules.fromFrame(l.onto), l.onto.Inverse(), l.onto.Inverse().Then(l.to)
	shown, left, top := pixels.Luma(l.pixels), float32(l.pixels.Rect.Min.X), float32(l.pixels.Rect.Min.Y)
	skin, skinLeft, skinTop := pixels.Luma(l.frame), float32(l.frame.Rect.Min.X), float32(l.frame.Rect.Min.Y)
	scale := l.onto.Scale()
	var r rule
	luma := func(q geom.Point, down float32) float32 {
		q = move(toMouth.Apply(q), &l.to, r.dx, down)
		return toned(shown.CatmullRom(q.X-left, q.Y-top), r.tone[0]*(1-r.seam))
	}
	area := m.Image.Rect
	for y := area.Min.Y; y < area.Max.Y; y++ {
		alpha := m.Mask.Pix[m.Mask.PixOffset(area.Min.X, y):][:area.Dx()]
		out, own := m.Image.Y[m.Image.YOffset(area.Min.X, y):][:area.Dx()], l.frame.Y[l.frame.YOffset(area.Min.X, y):][:area.Dx()]
		for i := range alpha {
			q := geom.Point{X: float32(area.Min.X + i), Y: float32(y)}
			if !rules.at(toGrid.Apply(q), &r, true) {
				continue
			}
			var under, mouth float32
			switch {
			case r.mask == 1:
			case r.under == [2]float32{}:
				under = float32(own[i])
			default:
				from := move(q, &l.onto, r.under[0], r.under[1])
				under = skin.Bilinear(from.X-skinLeft, from.Y-skinTop)
			}
			if r.mask > 0 {
				lower, inside := r.lower(scale), r.inside(scale)
				if inside < 1 && lower < 1 {
					mouth = (1 - lower) * luma(q, r.dy)
				}
				if inside < 1 && lower > 0 {
					mouth += lower * luma(q, r.dy+r.jump)
				}
				if inside > 0 {
					mouth += (l.inside.at(toFace.Apply(q), r.depth(), r.open, true)[0] - mouth) * inside
				}
			}
			alpha[i], out[i] = 255, r.over(mouth, under)
		}
	}
}

// paintChroma sets all of the chroma. Where nothing changes it is the frame's.
func (l *layer) paintChroma(m *engine.Mouth, rules *ruleGrid) {
	toGrid, toFace, toMouth := rules.fromFrame(l.onto), l.onto.Inverse(), l.onto.Inverse().Then(l.to)
	scale := l.onto.Scale() / 2
	var r rule
	area := m.Image.Rect
	for y := area.Min.Y; y < area.Max.Y; y += 2 {
		for x := area.Min.X; x < area.Max.X; x += 2 {
			q := geom.Point{X: float32(x) + .5, Y: float32(y) + .5} // a chroma pixel is in the middle of four luma pixels
			i := m.Image.COffset(x, y)
			if !rules.at(toGrid.Apply(q), &r, false) {
				k := l.frame.COffset(x, y)
				m.Image.Cb[i], m.Image.Cr[i] = l.frame.Cb[k], l.frame.Cr[k]
				continue
			}
			var cb, cr, cbUnder, crUnder float32
			if r.mask > 0 {
				down := r.dy
				if r.lower(scale) > .5 {
					down += r.jump
				}
				cb, cr = pixels.ChromaAt(l.pixels, move(toMouth.Apply(q), &l.to, r.dx, down))
				cb, cr = cb+r.tone[1], cr+r.tone[2]
				if inside := r.inside(scale); inside > 0 {
					v := l.inside.at(toFace.Apply(q), r.depth(), r.open, false)
					cb, cr = cb+(v[0]-cb)*inside, cr+(v[1]-cr)*inside
				}
			}
			if r.mask < 1 {
				cbUnder, crUnder = pixels.ChromaAt(l.frame, move(q, &l.onto, r.under[0], r.under[1]))
			}
			m.Image.Cb[i], m.Image.Cr[i] = r.over(cb, cbUnder), r.over(cr, crUnder)
		}
	}
}

// move returns a place of a picture, moved by canonical distances to the right and down on the face
// in it. to is the similarity from the canonical face to the picture's pixels.
func move(q geom.Point, to *geom.Similarity, right, down float32) geom.Point {
	return geom.Point{X: q.X + to.A*right - to.B*down, Y: q.Y + to.B*right + to.A*down}
}
