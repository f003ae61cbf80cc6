package mouth

import (
	"image"
	"math"

	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// inside is what is seen between opened lips. It goes up and down with the skull and aside with the mouth, and lips hide it but don't bend it. It is
// always that of the person's best example, since teeth that change with the example flicker. If there is none, it is drawn; only a frame's own
// mouth shows its own inside, as far as it shows any.
type inside struct {
	pane   *pane      // over the drawn one; nil for none
	lip    [3]float32 // Y, Cb and Cr of the lips in the light of the frame
	light  relighting // from the person's usual light to that of the frame
	teeth  float32    // how much of the drawn teeth is seen: none if the pane shows others
	middle float32    // x of the middle of the mouth, canonical
	half   float32    // half of its width
	shift  geom.Point // of the mouth as a whole
}

// pane is the inside of one mouth that is seen in pixels.
type pane struct {
	pixels *image.YCbCr
	to     geom.Similarity // from the canonical face to its pixels
	lips   *Lips
	at     geom.Point // added to a place in the shown mouth, it gives the place in this one
	share  float32    // how much of the drawn inside it hides, 0 to 1
	end    float32    // depth at which it ends: 1 is at the lower lip
	light  float32    // factor of the luma, which brings it into the light of the frame; the shadows of lips that come nearer darken it further
}

// Constants of what is seen of the inside, by eye unless a source is given.
const (
	leastInside = .1  // an example lends its inside if it is open by more, less what a grimace hides, canonical
	insideFrom  = .45 // a frame's own mouth shows its own inside from this share of the gap that is needed; below it, a drawn one
	insideTo    = .85 // and only its own from this share on
	insideThin  = .06 // gap from which on the inside is seen as it is; through a smaller one skin scatters light into it
	insideLeast = .35 // share of the inside that is seen through the smallest gap; the rest is lip
	lipEdge     = .01 // a place that is so near to a lip may be lip, and not the inside, canonical
	behindLips  = .03 // by so much front teeth lie behind the edges of the lips, canonical: some 2 mm
	backwards   = .9  // by so much more times the square of their distance from the middle others do, since the row bends away from the lips
	fromBelow   = .2  // light from below, as a share of that from above: the usual albedo of ground (Liu and Jordan, 1963), and that of floors
	scattered   = .45 // share of the light that lips and teeth spread. So teeth .01, .02, .03 and .04 below the upper lip have .71, .83, .90 and .94 of their luma at .07; of seven people the medians are .75, .85, .89 and .93
	mostLight   = 1.6 // the light of the frame makes an inside brighter or darker by this factor at most
	teethLeast  = .8  // least luma of teeth, as a share of that of the lips
	teethTo     = .8  // the upper teeth end above this depth
	behindTeeth = .55 // largest luma behind teeth that are apart, as a share of that of the teeth. Six people have .23 to .48 there; two who clench their teeth have .63 and .69
)

// newInside returns the inside of a mouth that is shown in pixels, and is given a shape. If no example lends its inside, the share of shown of the
// mouth's own inside is seen where it is open enough. lip is the colour of lips in the frame's light, which is now, and nose is the y of the base of
// the nose in the frame.
func newInside(p *Person, shown pane, to Shape, nose float32, lip [3]float32, now light) *inside {
	in := &inside{lip: lip, light: relightingOf(p.look.light, now), teeth: 1, middle: shown.lips.Middle(), half: to.Width / 2, shift: to.Shift}
	if b := p.best; b == nil {
		shown.share *= smoothstep((shown.lips.Gap()/max(to.Gap, leastGap) - insideFrom) / (insideTo - insideFrom))
		shown.end = 1
	} else {
		// The teeth stay with the skull, but no gap is left above them, and the upper lip hides no more of them than when it comes down from a
		// loud vowel.
		own, o := shown.lips, &b.example.Shown
		withSkull, withLip := o.Nose-nose+to.Shift.Y, o.Upper.middle()-own.upperEdge(to.Gap)
		at := geom.Point{X: o.Middle() - own.Middle(), Y: min(max(withSkull, withLip), withLip+upperShare*p.Most)}
		shown = pane{pixels: relightingOf(b.example.look.light, now).picture(b.example.Pixels), to: o.To, lips: &o.Lips, at: at, share: 1, end: b.end}
	}
	if shown.share > 0 {
		then := colourOfLips(shown.pixels, shown.to, shown.lips)
		shown.light = min(max((lip[0]-black)/max(then[0]-black, 1), 1/mostLight), mostLight)
		in.pane, in.teeth = &shown, 1-shown.share
	}
	return in
}

// black is the luma of black.
const black = 16

// at returns the luma of the inside in v[0], or else Cb and Cr, at a canonical place of the frame. depth is 0 at the upper lip and 1 at the
// lower one, and open is the distance of both.
func (in *inside) at(q geom.Point, depth, open float32, luma bool) (v [2]float32) {
	q.X, q.Y = q.X-in.shift.X, q.Y-in.shift.Y
	l := in.pane
	var share float32
	var from geom.Point
	if l != nil {
		share, from = l.seen(geom.Point{X: q.X + l.at.X, Y: q.Y + l.at.Y})
	}
	x := q.X - in.middle
	behind := behindLips + backwards*square(x)
	var here float32 // light
	if luma {
		here = lit(depth*open, (1-depth)*open, behind)
	}
	if share < 1 {
		if s := x / in.half; luma {
			v[0] = in.drawnLuma(s, depth, open, here)
		} else {
			v = in.drawnChroma(s, depth, open)
		}
	}
	switch {
	case share == 0:
	case luma:
		upper, lower := l.lips.inner(from.X)
		// A wider gap doesn't make teeth brighter than they are seen in the example.
		light := l.light * min(here/lit(from.Y-upper, max(lower-from.Y, leastGap), behind), 1)
		v[0] += (toned(pixels.LumaAt(l.pixels, l.to.Apply(from)), light) - v[0]) * share
	default:
		cb, cr := pixels.ChromaAt(l.pixels, l.to.Apply(from))
		v[0], v[1] = v[0]+(cb-v[0])*share, v[1]+(cr-v[1])*share
	}
	return v
}

// lit returns the share of the light on the lips that falls on a place behind them, which lies so far below the upper lip and above the lower one.
// By Lambert's cosine law each half of the slit between the lips gives the sine of the angle under which it is seen, and the light from below is
// as much weaker as the ground is darker than the sky. Lips and teeth scatter a share of what comes in.
func lit(below, above, behind float32) float32 {
	through := func(high float32) float32 { return high / sqrt(square(high)+square(behind)) }
	return scattered*through((below+above)/2) + (1-scattered)*(through(below)+fromBelow*through(above))/(1+fromBelow)
}

// seen returns how much of the drawn inside a pane hides at a place of its own, and the place of the pixel to show. Its teeth, and the line
// between its lips where they touch, go on a little beyond its lips.
func (l *pane) seen(q geom.Point) (share float32, from geom.Point) {
	q.X = min(max(q.X, l.lips.Left.X), l.lips.Right.X)
	upper, lower := l.lips.inner(q.X)
	lower = upper + (lower-upper)*l.end
	edge := min(lipEdge, (lower-upper)/2)
	from = geom.Point{X: q.X, Y: min(max(q.Y, upper+edge), lower-edge)}
	return l.share * pixels.Unit(2-abs(q.Y-from.Y)/beyond), from
}

// beyond is the height by which a pane goes on beyond its lips, and over which it ends after that; canonical, by eye.
const beyond = .025

// A drawn inside. Its colours are shares of those of the lips: of their luma, and of the distances of their Cb and Cr from grey. Of real open
// mouths the darkest luma is .3 to .45, and Cr there 10 to 13 levels less. The brightest quarter of the inside of seven people, which is teeth,
// has a luma of .9 to 1.6, Cb of .6 to 1.3 and Cr of .4 to .9; the medians are used. Lengths are canonical. By eye, unless they are of these.
const (
	toothHigh   = .075 // the upper teeth are seen so far below the lip, at most
	toothShare  = .45  // and by this share of the gap at most
	toothFull   = .1   // gap from which on drawn teeth are whole
	toothLuma   = 1.47 // in full light; .95 of it falls on front teeth through a gap of .2
	toothYellow = .96  // Cb
	toothRed    = .65  // Cr
	toothSoft   = .025
	toothWide   = .14 // of a front tooth: 8.5 mm (Wheeler's Dental Anatomy)
	toothRound  = .15 // by how much it is shorter at its sides, as a share
	toothGroove = .2  // by how much it is darker between two teeth
	cavityLuma  = .3  // of the dark behind the teeth, and the least anywhere
	cavityRed   = .5  // likewise
	tongueFrom  = .55 // depth from which on the tongue is seen
	tongueLuma  = .55 // at the lower lip
	tongueRed   = .85 // likewise
	tongueLeast = .08 // gap from which on the tongue is seen
)

// drawnTooth returns how much of a place is tooth, at s half widths from the middle.
func (in *inside) drawnTooth(s, depth, open float32) float32 {
	bulge := 1 - toothRound*square(2*in.across(s)-1)
	high := min(toothHigh, toothShare*open) * (1 - square(s)/2) * bulge
	return pixels.Unit((high-depth*open)/toothSoft+.5) * pixels.Unit(open/toothFull) * in.teeth
}

// across returns how far a place is across its tooth, 0 to 1.
func (in *inside) across(s float32) float32 {
	teeth := s * in.half / toothWide
	return teeth - float32(math.Floor(float64(teeth)))
}

// drawnTongue returns how much of a place is tongue.
func drawnTongue(s, depth, open float32) float32 {
	return smoothstep((depth-tongueFrom)/(1-tongueFrom)) * smoothstep(open/tongueLeast-1) * (1 - square(s))
}

// drawnLuma returns the luma of the drawn inside. share is that of the light on the lips that falls there.
func (in *inside) drawnLuma(s, depth, open, share float32) float32 {
	s = max(min(s, 1), -1)
	v := float32(cavityLuma)
	v += (tongueLuma - v) * drawnTongue(s, depth, open)
	beside := in.across(s)
	tooth := toothLuma * (1 - toothGroove*smoothstep(1-min(beside, 1-beside)*8))
	v += (tooth - v) * in.drawnTooth(s, depth, open)
	return in.light.luma(toned(in.light.lumaBefore(in.lip[0]), max(v*share, cavityLuma)))
}

func (in *inside) drawnChroma(s, depth, open float32) (v [2]float32) {
	shares := [2]float32{toothYellow, toothRed}
	soft, tooth := cavityRed+(tongueRed-cavityRed)*drawnTongue(s, depth, open), in.drawnTooth(s, depth, open)
	for i := range v {
		v[i] = grey + (in.lip[1+i]-grey)*(soft+(shares[i]-soft)*tooth)
	}
	return v
}

// grey is the chroma of grey.
const grey = 128

// colourOfLips returns the mean Y, Cb and Cr of the lips of a mouth.
func colourOfLips(p *image.YCbCr, to geom.Similarity, m *Lips) (mean [3]float32) {
	const columns = 9
	for k := range columns {
		x := m.Middle() + m.Width()*.6*(float32(k)/(columns-1)-.5)
		upper, lower := m.inner(x)
		for _, y := range [2]float32{(upper + m.Top.at(m, x)) / 2, (lower + m.Bottom.at(m, x)) / 2} {
			q := to.Apply(geom.Point{X: x, Y: y})
			cb, cr := pixels.ChromaAt(p, q)
			for i, v := range [3]float32{pixels.LumaAt(p, q), cb, cr} {
				mean[i] += v / (2 * columns)
			}
		}
	}
	return mean
}

// lender is an example whose inside is shown in all frames.
type lender struct {
	example *Example
	end     float32 // depth at which its inside ends
}

// upperTeeth returns whether the upper teeth of an open mouth are seen, the depth at which they end, and whether the lower ones are apart from
// them: then it is dark there. Teeth that lie under the darkest place are lower ones.
func (e *Example) upperTeeth() (seen bool, end float32, apart bool) {
	const columns, rows = 9, 17
	m := &e.Shown.Lips
	dullest := teethLeast * max(colourOfLips(e.Pixels, e.Shown.To, m)[0]-black, 1)
	brightest := dullest
	least := float32(1) // share of the brightest above it
	for i := range rows {
		depth := teethTo * float32(i) / (rows - 1)
		var luma float32
		for k := range columns {
			x := m.Middle() + m.Width()*.5*(float32(k)/(columns-1)-.5)
			upper, lower := m.inner(x)
			upper += min(lipEdge, (lower-upper)/2)
			luma += max(pixels.LumaAt(e.Pixels, e.Shown.To.Apply(geom.Point{X: x, Y: upper + (lower-upper)*depth}))-black, 1) / columns
		}
		brightest = max(brightest, luma)
		if share := luma / brightest; share <= least {
			seen, end, least = brightest > dullest, depth, share
		}
	}
	return seen, end, least < behindTeeth
}
