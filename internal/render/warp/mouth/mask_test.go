package mouth

import (
	"image"
	"testing"

	"lipsync/internal/domain/order"
	"lipsync/internal/signal/geom"
	"lipsync/internal/sound/speech"
	"lipsync/internal/test/facetest"
)

// extremes are masks with the smallest and largest factors.
var extremes = []order.Mask{
	{}, {Expand: -150}, {Expand: 250}, {Feather: -750}, {Feather: 1000},
	{Feather: -750, Expand: -150}, {Feather: 1000, Expand: -150}, {Feather: -750, Expand: 250}, {Feather: 1000, Expand: 250},
}

// layOn returns a mouth in a picture that is shown in a shape on a frame's own mouth, with the outline of both.
func layOn(p *Person, own, shown Lips, of *image.YCbCr, s Shape) *Wanted {
	to := geom.Similarity{A: canonicalPixels}
	o := OutlineOf(&own, &shown, s.Gap)
	return &Wanted{
		Person: p, Example: &Example{Shown: Observation{Lips: shown, To: to}, Pixels: of}, Own: Observation{Lips: own, To: to},
		Shape: o.Give(&shown, s), Under: o.Under(&own, s),
	}
}

// patchLayer returns the layer of an example of a picture on a frame. own and shown are the gaps between their lips.
func patchLayer(m order.Mask, own, shown float32, frame, of *image.YCbCr) *layer {
	p := &Person{Line: 1.57}
	p.Prepare(m, nil)
	lips := someLips(shown)
	s := p.Shape(speech.Articulation{}, lips.Width())
	s.Gap = shown
	w := layOn(p, someLips(own), lips, of, s)
	under := newField(&w.Own.Lips, w.Under, fieldArea(&w.Own.Lips, w.Under))
	return newLayer(frame, w, under, look{}, w.Example, s)
}

// opacity returns how opaque a bright example is on each pixel of a dark frame, by the pixels that are painted.
func opacity(m order.Mask, own, shown float32) func(x, y float32) float32 {
	const dark, bright = 20, 220
	l := patchLayer(m, own, shown, facetest.Plain(dark), facetest.Plain(bright))
	l.tones.planes = [3]plane{}
	for i := range l.tones.alike {
		l.tones.alike[i] = 1
	}
	l.inside.lip = [3]float32{bright, grey, grey}
	out := l.paint(image.Rect(0, 0, 240, 300)).Image
	return func(x, y float32) float32 {
		v := out.Y[out.YOffset(int(x*canonicalPixels+.5), int(y*canonicalPixels+.5))]
		if v == 0 { // not painted
			return 0
		}
		return (float32(v) - dark) / (bright - dark)
	}
}

// TestMaskSizes checks the size and the edge of the patches that masks give, by pixels, and that they hide the frame's own lips.
func TestMaskSizes(t *testing.T) {
	type size struct{ wide, above, soft float32 }
	sizes := map[order.Mask]size{}
	for _, m := range extremes {
		at := opacity(m, 0, 0)
		var s size
		var some, all int
		for y := float32(.8); y < 2.6; y += .01 {
			for x := float32(.1); x < 2.3; x += .01 {
				v := at(x, y)
				if v > .01 {
					s.wide = max(s.wide, abs(x-1.2))
					s.above = max(s.above, 1.57-y)
					all++
				}
				if v > .01 && v < .99 {
					some++
				}
				if abs(v-at(x+.01, y)) > .4 && x < 2.3 {
					t.Errorf("%v: a hard edge at (%.2f, %.2f)", m, x, y)
				}
			}
		}
		s.soft = float32(some) / float32(all)
		sizes[m] = s
		if s.wide > patchMost+.02 || s.above > 1.57-1.2+patchAbove+.02 {
			t.Errorf("%v: it reaches %.2f aside and %.2f above the lips, beyond the pixels of examples", m, s.wide, s.above)
		}
		usual := sizes[order.Mask{}]
		if m.Expand > 0 && m.Feather >= 0 && !(s.wide > 1.15*usual.wide && s.above > 1.1*usual.above) || m == (order.Mask{Expand: -150}) && !(s.wide < usual.wide && s.above < .9*usual.above) {
			t.Errorf("%v: it reaches %.2f aside and %.2f above the lips, usually %.2f and %.2f", m, s.wide, s.above, usual.wide, usual.above)
		}
		if m == (order.Mask{Feather: -750}) && !(s.soft < .5*usual.soft) || m == (order.Mask{Feather: 1000}) && !(s.soft > 1.2*usual.soft) {
			t.Errorf("%v: %.2f is soft, usually %.2f", m, s.soft, usual.soft)
		}
	}
	for _, gap := range []float32{0, .09, .18, .27} {
		lips := someLips(gap)
		usually := opacity(order.Mask{}, gap, 0)
		for _, m := range extremes {
			at := opacity(m, gap, 0)
			for s := float32(-.99); s <= .99; s += .03 {
				x := lips.Middle() + s*lips.Width()/2
				top, bottom := lips.Top.at(&lips, x), lips.Bottom.at(&lips, x)
				for _, y := range []float32{top, (top + bottom) / 2, bottom} {
					if got, want := at(x, y), usually(x, y); got < want-.06 {
						t.Errorf("%v, a gap of %g: %.2f of the lips is hidden at (%.2f, %.2f), usually %.2f", m, gap, got, x, y, want)
					}
				}
			}
		}
	}
}

// TestMaskLeavesBackground lays an example with a narrower face on a frame, as if a head turns. What is beside that face must not be seen on the
// frame's, neither beyond the usual patch nor in it.
func TestMaskLeavesBackground(t *testing.T) {
	const skin, hair = 150, 30
	for half, soft := range map[int]int{50: 8, 68: 4} { // of the face, and how far what is beside it may be seen, pixels
		example := facetest.Plain(skin)
		for i := range example.Y {
			if x := i % example.YStride; x > 120+half {
				example.Y[i] = hair
			}
		}
		for _, m := range extremes {
			l := patchLayer(m, 0, 0, facetest.Plain(skin), example)
			out := l.paint(image.Rect(0, 0, 240, 300))
			for y := 110; y < 230; y++ {
				for x := 120 + half + soft; x < 220; x++ {
					if k := out.Image.YOffset(x, y); out.Mask.Pix[out.Mask.PixOffset(x, y)] > 0 && out.Image.Y[k] < skin-30 {
						t.Fatalf("a half face of %d, %v: luma %d at (%d, %d), want about %d", half, m, out.Image.Y[k], x, y, skin)
					}
				}
			}
		}
	}
}

// TestOwnCornersDontShow lays a usual mouth on the frame of a broad smile. The dark corners of the smile must not be seen beside it.
func TestOwnCornersDontShow(t *testing.T) {
	const skin, dark = 150, 20
	own := tiltedLips(0, .12, .12)
	own.Left.X, own.Right.X = own.Left.X-.11, own.Right.X+.11
	frame := facetest.Plain(skin)
	for _, corner := range [2]geom.Point{own.Left, own.Right} {
		for y := corner.Y - .03; y < corner.Y+.03; y += .004 {
			for x := corner.X - .03; x < corner.X+.03; x += .004 {
				frame.Y[frame.YOffset(int(x*canonicalPixels), int(y*canonicalPixels))] = dark
			}
		}
	}
	shown := someLips(0)
	p := &Person{Line: 1.57}
	w := layOn(p, own, shown, facetest.Plain(skin), p.Shape(speech.Articulation{}, shown.Width()))
	m, ok := Paint(frame, w)
	if !ok {
		t.Fatal("nothing is painted")
	}
	for y := m.Mask.Rect.Min.Y; y < m.Mask.Rect.Max.Y; y++ {
		for x := m.Mask.Rect.Min.X; x < m.Mask.Rect.Max.X; x++ {
			luma := frame.Y[frame.YOffset(x, y)]
			if m.Mask.Pix[m.Mask.PixOffset(x, y)] > 0 {
				luma = m.Image.Y[m.Image.YOffset(x, y)]
			}
			if far := abs(float32(x)/canonicalPixels - shown.Middle()); far > shown.Width()/2+.05 && luma < skin-20 {
				t.Fatalf("luma %d at (%d, %d), %.2f beside the corner, want about %d", luma, x, y, far-shown.Width()/2, skin)
			}
		}
	}
}

// TestPatchHidesMouth lays shut lips of the colour of skin on frames with dark mouths, which are unlike them. No more of these is seen than of the
// same mouths through a patch that ends nowhere.
func TestPatchHidesMouth(t *testing.T) {
	const skin, dark = 150, 40
	for name, own := range map[string]Lips{
		"shut": someLips(0), "open": someLips(.25), "a little open": someLips(.08), "with raised corners": tiltedLips(0, .06, .06), "a smirk": tiltedLips(.05, .1, 0),
	} {
		frame := facetest.Plain(skin)
		for y := range frame.Rect.Dy() {
			for x := range frame.Rect.Dx() {
				q := geom.Point{X: float32(x) / canonicalPixels, Y: float32(y) / canonicalPixels}
				if abs(q.X-own.Middle()) < own.Width()/2+.04 && q.Y > own.Top.at(&own, q.X)-.02 && q.Y < own.Bottom.at(&own, q.X)+.02 {
					frame.Y[frame.YOffset(x, y)] = dark
				}
			}
		}
		shown := someLips(0)
		p := &Person{Line: 1.57}
		w := layOn(p, own, shown, facetest.Plain(skin), p.Shape(speech.Articulation{}, shown.Width()))
		under := newField(&w.Own.Lips, w.Under, fieldArea(&w.Own.Lips, w.Under))
		seen := func(alike bool) (darkness int) {
			l := newLayer(frame, w, under, look{}, w.Example, w.Shape)
			l.inside.lip, l.tones.planes = [3]float32{skin, grey, grey}, [3]plane{}
			for i := range l.tones.alike {
				if alike {
					l.tones.alike[i] = 1
				}
			}
			out := l.paint(image.Rect(0, 0, 240, 300))
			for y := range 300 {
				for x := range 240 {
					luma := frame.Y[frame.YOffset(x, y)]
					if out.Mask.Pix[out.Mask.PixOffset(x, y)] > 0 {
						luma = out.Image.Y[out.Image.YOffset(x, y)]
					}
					darkness += max(skin-10-int(luma), 0)
				}
			}
			return darkness
		}
		if ends, whole := seen(false), seen(true); ends > whole+100 {
			t.Errorf("%s: the frame's own mouth is seen with a darkness of %d, %d through a whole patch", name, ends, whole)
		}
	}
}

// TestPatchCoversOwnCorners lays a narrow mouth on frames whose own mouths are straight or smirk. The patch hides their corners, is no larger
// than usual for a straight mouth, and is the same for a smirk to the other side.
func TestPatchCoversOwnCorners(t *testing.T) {
	p, to := &Person{Line: 1.57}, Shape{Width: .6}
	straight, right, left := Observation{Lips: someLips(0)}, Observation{Lips: tiltedLips(0, 0, .26)}, Observation{Lips: tiltedLips(0, .26, 0)}
	usual := newPatch(p, &straight, to)
	if usual.side != patchHalf || usual.top != straight.Nose+patchTop {
		t.Errorf("the patch on a straight mouth is %+v", usual)
	}
	right.Right.X += .1
	left.Left.X -= .1
	for _, m := range []order.Mask{{}, {Expand: 1}} {
		p.Prepare(m, nil)
		for name, own := range map[string]*Observation{"straight mouth": &straight, "smirk": &right, "smirk to the left": &left} {
			for _, corner := range []geom.Point{own.Left, own.Right} {
				if mask := newPatch(p, own, to).mask(corner); mask < .9 {
					t.Errorf("with mask %+v a corner of the %s is hidden to %.2f", m, name, mask)
				}
			}
		}
	}
	if a, b := newPatch(p, &right, to), newPatch(p, &left, to); abs(a.side-b.side) > 1e-4 || a.top != b.top {
		t.Errorf("patches on smirks are %+v to the right, %+v to the left", a, b)
	}
}

// TestPatchFollowsCorners raises a corner little by little. The patch grows little by little.
func TestPatchFollowsCorners(t *testing.T) {
	p := &Person{Line: 1.57}
	var last *patch
	for raised := float32(0); raised < .4; raised += .005 {
		own := Observation{Lips: tiltedLips(0, 0, raised)}
		own.Right.X += .1
		next := newPatch(p, &own, Shape{Width: .6})
		if last != nil && (next.side < last.side-1e-4 || next.side > last.side+.05 || next.top > last.top) {
			t.Errorf("at %.3f the patch is %+v after %+v", raised, next, last)
		}
		last = next
	}
}

// TestSkinMovesUnderPatch closes the mouth of a frame whose own mouth is open. A stripe under the chin rises with it,
// and one on the forehead stays.
func TestSkinMovesUnderPatch(t *testing.T) {
	const skin, dark, gap = 150, 60, .3
	own, shown := someLips(gap), someLips(0)
	frame := facetest.Plain(skin)
	const under = .1 // the stripe is below the chin, so that it doesn't move under the patch
	chin, forehead := own.Level()+chinBelow+under, float32(.6)
	stripe := func(y float32) {
		for x := range 240 {
			for dy := range 3 {
				frame.Y[frame.YOffset(x, int(y*canonicalPixels)-1+dy)] = dark
			}
		}
	}
	stripe(chin)
	stripe(forehead)
	p := &Person{Line: own.Level()}
	w := layOn(p, own, shown, facetest.Plain(skin), p.Shape(speech.Articulation{}, own.Width()))
	m, _ := Paint(frame, w)
	darkest := func(from, to float32) float32 {
		least, at := uint8(255), 0
		for y := int(from * canonicalPixels); y < int(to*canonicalPixels); y++ {
			x := int(own.Middle() * canonicalPixels)
			luma := frame.Y[frame.YOffset(x, y)]
			if (image.Point{X: x, Y: y}).In(m.Mask.Rect) && m.Mask.Pix[m.Mask.PixOffset(x, y)] > 0 {
				luma = m.Image.Y[m.Image.YOffset(x, y)]
			}
			if luma < least {
				least, at = luma, y
			}
		}
		return float32(at) / canonicalPixels
	}
	if rises, want := chin-darkest(chin-.3, chin+.3), float32(chinShare*gap*(1-under/neckBelow)); abs(rises-want) > .02 {
		t.Errorf("the chin rises by %.2f, want %.2f", rises, want)
	}
	if at := darkest(forehead-.1, forehead+.1); abs(at-forehead) > .02 {
		t.Errorf("the forehead moves to %.2f from %.2f", at, forehead)
	}
}
