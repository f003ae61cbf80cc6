package mouth

import (
	"image"
	"math/rand/v2"
	"slices"
	"testing"

	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
	"lipsync/internal/test/facetest"
)

// someLips returns a usual mouth on the canonical face with a gap between its lips.
func someLips(gap float32) Lips { return tiltedLips(gap, 0, 0) }

// tiltedLips returns such a mouth whose corners are higher.
func tiltedLips(gap, left, right float32) Lips {
	m := Lips{Left: geom.Point{X: .76, Y: 1.56 - left}, Right: geom.Point{X: 1.64, Y: 1.56 - right}, Nose: 1.2}
	for k := range m.Upper {
		s := place(k)
		a, bulge := arch(s), 1-square(s)
		line, open := m.axis(m.Middle()+s*m.Width()/2)+.01*bulge, gap*a/archMean
		m.Upper[k], m.Lower[k] = line-upperShare*open, line+(1-upperShare)*open
		m.Top[k], m.Bottom[k] = m.Upper[k]-.1*bulge, m.Lower[k]+.15*bulge
	}
	return m
}

// The colours of a drawn mouth: luma and Cr.
var (
	skinColour  = [2]uint8{150, 140}
	lipColour   = [2]uint8{110, 160}
	teethColour = [2]uint8{180, 132}
)

const canonicalPixels = 100 // a canonical unit, in the pictures of these tests

// drawLips draws a mouth from outer edge to outer edge, with the given colour
// between its lips. Its edges are smooth.
func drawLips(m *Lips, inside [2]uint8) *image.YCbCr {
	const parts = 8 // of a pixel's height
	f := facetest.Plain(0)
	for y := range f.Rect.Dy() {
		for x := range f.Rect.Dx() {
			q := geom.Point{X: float32(x) / canonicalPixels}
			luma := 0
			for k := range parts {
				q.Y = (float32(y) + (float32(k)+.5)/parts - .5) / canonicalPixels
				luma += int(colourOf(m, q, inside)[0])
			}
			q.Y = float32(y) / canonicalPixels
			f.Y[f.YOffset(x, y)], f.Cr[f.COffset(x, y)] = uint8(luma/parts), colourOf(m, q, inside)[1]
		}
	}
	return f
}

// colourOf returns the colour of a place of the canonical face.
func colourOf(m *Lips, q geom.Point, inside [2]uint8) [2]uint8 {
	if abs(q.X-m.Middle()) >= m.Width()/2 {
		return skinColour
	}
	upper, lower := m.inner(q.X)
	switch {
	case q.Y < m.Top.at(m, q.X) || q.Y > m.Bottom.at(m, q.X):
		return skinColour
	case q.Y > upper && q.Y < lower:
		return inside
	default:
		return lipColour
	}
}

// wholeField returns the field of the whole area that a shape changes.
func wholeField(m *Lips, to Shape) *field { return newField(m, to, fieldArea(m, to)) }

// TestFieldAtRest checks that nothing moves if a mouth keeps its shape.
func TestFieldAtRest(t *testing.T) {
	for _, open := range []float32{0, .1, .3} {
		m := someLips(open)
		for i, c := range wholeField(&m, Shape{Gap: m.Gap(), Width: m.Width(), Upper: 1, Lower: 1}).cells {
			if abs(c.dx) > 1e-5 || abs(c.dy) > 1e-5 || abs(c.jump) > 1e-5 || c.seam != 0 {
				t.Fatalf("open by %g, cell %d: %+v", open, i, c)
			}
		}
	}
}

// TestField checks properties of all movements: nothing moves beyond their reach, and the sources of
// places have the order of the places from top to bottom.
func TestField(t *testing.T) {
	const edge = 1. / fieldScale // between cells
	for _, c := range []struct {
		from, to    float32 // gaps
		width       float32 // as a multiple of the mouth's own
		tuck, round float32
	}{
		{from: 0, to: .05, width: 1}, {from: 0, to: .17, width: 1}, {from: 0, to: .3, width: 1},
		{from: .2, to: 0, width: 1}, {from: .2, to: .1, width: 1}, {from: .1, to: .3, width: 1}, {from: .3, to: .02, width: 1},
		{from: 0, to: .1, width: .78}, {from: .2, to: .1, width: .78}, {from: .1, to: .1, width: 1.06},
		{from: .2, to: .04, width: 1, tuck: 1}, {from: 0, to: .04, width: 1, tuck: 1},
		{from: 0, to: .2, width: 1 - narrowest, round: 1}, {from: .2, to: .1, width: 1 - narrowest, round: 1}, {from: .1, to: .3, width: 1, round: .5},
	} {
		m := someLips(c.from)
		neck := m.Level() + chinBelow + neckBelow
		f := wholeField(&m, Shape{Gap: c.to, Width: c.width * m.Width(), Upper: 1, Lower: 1, tuck: c.tuck, round: c.round})
		for x := m.Middle() - 1.2; x < m.Middle()+1.2; x += .04 {
			last := float32(-1)
			for y := m.Nose - .2; y < neck+.2; y += .01 {
				v := f.at(geom.Point{X: x, Y: y})
				still := y < m.Nose-edge || y > neck+edge || abs(x-m.Middle()) > reach*m.Width()/2+edge
				if still && (abs(v.dx) > 1e-5 || abs(v.down()) > 1e-5) {
					t.Fatalf("%v: at %.2f, %.2f, where nothing moves: %+v", c, x, y, v)
				}
				from := y + v.down()
				if !v.between() && from < last-.004 { // a cell is .016
					t.Fatalf("%v: at %.2f, %.2f: from %.3f, above that from %.3f", c, x, y, from, last)
				}
				if !v.between() {
					last = max(from, last)
				}
			}
		}
	}
}

// TestRoundedSmile checks that the dark of a corner near the nose is hidden without turning the skin between them over.
func TestRoundedSmile(t *testing.T) {
	m := someLips(.1)
	m.Nose = m.Top.middle() - noseAbove
	m.Upper[0], m.Lower[0] = m.Top.middle(), m.Top.middle()
	m.Left.Y = m.Top.middle()
	c := newColumn(&m, Shape{Gap: .1, Width: m.Width(), Upper: 1, Lower: 1, round: 1}, m.Left.X-.01)
	if !slices.IsSorted(c.from) || !slices.IsSorted(c.to) || c.jump <= 0 {
		t.Errorf("beside a corner the pieces from %v become %v, with %.3f hidden", c.from, c.to, c.jump)
	}
}

// TestRound checks the opening of rounded lips: its sides are shut, its middle is higher, its middle half is as large as that of other lips, and there
// the outer edges of the lips are where those of other lips are. The edges of lips that rounding shuts are hidden.
func TestRound(t *testing.T) {
	for _, from := range []float32{0, .05, .2} {
		m := someLips(from)
		var areas [2]float32
		for k := range len(edge{}) {
			s := place(k)
			at := func(round float32) column {
				return newColumn(&m, Shape{Gap: .12, Width: m.Width(), Upper: 1, Lower: 1, round: round}, m.Middle()+s*m.Width()/2)
			}
			other, round := at(0), at(1)
			gap, usual := round.lower-round.upper, other.lower-other.upper
			if abs(s) <= .5 {
				areas[0], areas[1] = areas[0]+usual, areas[1]+gap
				for _, edge := range []int{1, 4} {
					if d := round.to[edge] - other.to[edge]; abs(d) > .01 {
						t.Errorf("open by %g: outer edge %d at %g half widths from the middle moves by %.3f", from, edge, s, d)
					}
				}
			}
			if abs(s) == .6875 && (gap < .5*usual || gap > .7*usual) { // an arch would be open by .41 of that, an ellipse by more
				t.Errorf("open by %g: %g half widths from the middle it opens by %.3f, other lips by %.3f", from, s, gap, usual)
			}
			if abs(s) >= roundest*archEnd && gap > 1e-3 {
				t.Errorf("open by %g: open by %.3f at %g half widths from the middle", from, gap, s)
			}
			if s == .8125 {
				u, l := m.inner(m.Middle() + s*m.Width()/2)
				if upper, lower := u-round.from[2], round.from[3]-l; upper < .9*roundHides || lower < .9*roundHides {
					t.Errorf("open by %g: edges of %.3f and %.3f are hidden where rounding shuts lips", from, upper, lower)
				}
			}
		}
		if abs(areas[1]/areas[0]-1) > .005 {
			t.Errorf("open by %g: the middle half is %.3f times as large", from, areas[1]/areas[0])
		}
	}
}

// TestRoundAlone checks that rounding hides nothing of lips that stay shut, nor far beyond the corners, and doesn't round a mouth twice.
func TestRoundAlone(t *testing.T) {
	at := func(m *Lips, s float32, to Shape) column {
		to.Width, to.Upper, to.Lower = m.Width(), 1, 1
		return newColumn(m, to, m.Middle()+s*m.Width()/2)
	}
	shut, open := someLips(0), someLips(.2)
	for _, round := range []float32{.01, .3, 1} {
		if c := at(&shut, .8, Shape{round: round}); abs(c.jump) > 1e-4 || c.seam > 1e-3 {
			t.Errorf("rounded by %g: shut lips jump by %.3f, with a seam of %.2f", round, c.jump, c.seam)
		}
		if c := at(&shut, 1+cornerSoft, Shape{Gap: .12, round: round}); abs(c.jump) > 1e-4 {
			t.Errorf("rounded by %g: the cheek jumps by %.3f", round, c.jump)
		}
	}
	ring := open
	for k := range ring.Upper {
		half := .1 * oval(place(k)) / ovalMean
		ring.Upper[k], ring.Lower[k] = ring.axis(ring.Middle())-half, ring.axis(ring.Middle())+half
	}
	if c := at(&ring, 0, Shape{Gap: ring.Gap(), round: 1}); abs(c.lower-c.upper-(ring.Lower.middle()-ring.Upper.middle())) > .01 {
		t.Errorf("a round mouth that opens by %.3f in the middle becomes one that opens by %.3f", ring.Lower.middle()-ring.Upper.middle(), c.lower-c.upper)
	}
}

// TestRoundCorner checks that a rounded mouth hides the dark of its corners, on both sides of them.
func TestRoundCorner(t *testing.T) {
	m, to := someLips(.2), geom.Similarity{A: canonicalPixels}
	frame := drawLips(&m, teethColour)
	const dark, high = 20, .02 // luma of a corner, and half of its height
	for _, corner := range []geom.Point{m.Left, m.Right} {
		for y := corner.Y - high; y <= corner.Y+high; y += .005 {
			for x := corner.X - high; x <= corner.X+high; x += .005 {
				q := to.Apply(geom.Point{X: x, Y: y})
				frame.Y[frame.YOffset(int(q.X+.5), int(q.Y+.5))] = dark
			}
		}
	}
	p := &Person{Most: .25, look: lookOf(frame, to)}
	darkest := func(round float32) uint8 {
		s := Shape{Gap: .12, Width: m.Width(), Upper: 1, Lower: 1, round: round}
		painted, _ := Paint(frame, &Wanted{Person: p, Shape: s, Own: Observation{To: to, Lips: m}})
		least := uint8(255)
		for _, corner := range []geom.Point{m.Left, m.Right} {
			for y := corner.Y - 2*high; y <= corner.Y+2*high; y += .005 {
				for x := corner.X - high; x <= corner.X+high; x += .005 {
					q := to.Apply(geom.Point{X: x, Y: y})
					at := image.Pt(int(q.X+.5), int(q.Y+.5))
					luma := frame.Y[frame.YOffset(at.X, at.Y)]
					if painted.Mask.AlphaAt(at.X, at.Y).A > 0 {
						luma = painted.Image.Y[painted.Image.YOffset(at.X, at.Y)]
					}
					least = min(least, luma)
				}
			}
		}
		return least
	}
	if usual, round := darkest(0), darkest(1); usual > 2*dark || round < lipColour[0]/2 {
		t.Errorf("the darkest place of the corners has a luma of %d, %d once the mouth is rounded", usual, round)
	}
}

// TestThinLips checks that what is left of the lips near the corners, where they are thin, isn't stretched to more than some twice its height if rounding
// hides their edges. That would be seen as dark ticks.
func TestThinLips(t *testing.T) {
	m := someLips(.2)
	for _, s := range []float32{-.999, -.97, -.94, .94, .97, .999} {
		c := newColumn(&m, Shape{Gap: .12, Width: m.Width(), Upper: 1, Lower: 1, round: 1}, m.Middle()+s*m.Width()/2)
		for _, i := range []int{1, 3} {
			if before, after := c.from[i+1]-c.from[i], c.to[i+1]-c.to[i]; before <= 0 || after > 2.5*before {
				t.Errorf("at %g half widths from the middle, piece %d of %.3f becomes one of %.3f", s, i, before, after)
			}
		}
	}
}

// TestRoundSeam checks that the line between lips that rounding shuts ends before the corners, and that the one of lips that all shut goes on.
func TestRoundSeam(t *testing.T) {
	m := someLips(.2)
	at := func(s, gap, round float32) float32 {
		return newColumn(&m, Shape{Gap: gap, Width: m.Width(), Upper: 1, Lower: 1, round: round}, m.Middle()+s*m.Width()/2).seam
	}
	for _, s := range []float32{-.96, .96} {
		if seam, opening := at(s, .12, 1), at(roundest*archEnd, .12, 1); seam > .3*opening || opening < .3*seamDark {
			t.Errorf("rounded, the line is as dark as %.3f at %g half widths from the middle, %.3f beside the opening", seam, s, opening)
		}
		if seam, other := at(s, 0, 1), at(s, 0, 0); abs(seam-other) > 1e-3 {
			t.Errorf("shut, the line is as dark as %.3f at %g half widths from the middle, %.3f if not rounded", seam, s, other)
		}
	}
}

// TestClosingHidesEdges checks that lips that close a little hide their edges, as lips that open do.
func TestClosingHidesEdges(t *testing.T) {
	m := someLips(.2)
	for _, gap := range []float32{.12, .28} {
		c := newColumn(&m, Shape{Gap: gap, Width: m.Width(), Upper: 1, Lower: 1}, m.Middle())
		if upper, lower := m.Upper.middle()-c.from[2], c.from[3]-m.Lower.middle(); upper < .9*lipEdge || lower < .9*lipEdge {
			t.Errorf("from .2 to %g: edges of %.3f and %.3f are hidden, want %g", gap, upper, lower, lipEdge)
		}
	}
}

// TestCheeksKeepOrder checks that no cheek folds if a broad smile rounds.
func TestCheeksKeepOrder(t *testing.T) {
	for _, width := range []float32{1.05, 1.15} {
		for _, far := range []float32{-.15, 0, .85} {
			m := someLips(0)
			m.Left.X, m.Right.X = m.Middle()-width/2, m.Middle()+width/2
			w := Shape{Width: (1 - narrowest) * unsmiling, Upper: 1, Lower: 1, far: far}
			last := float32(-10)
			for x := m.Middle() - 2; x < m.Middle()+2; x += .005 {
				from := x + newColumn(&m, w, x).aside
				if from < last {
					t.Fatalf("%g wide, farther by %g: at %.3f the source goes back from %.4f to %.4f", width, far, x, last, from)
				}
				last = from
			}
		}
	}
}

// TestFieldMeets checks that the lips of an open mouth meet near the line through its corners, if its
// lower lip lies straight between them and if its upper lip does.
func TestFieldMeets(t *testing.T) {
	straight := func(up float32) float32 {
		m := someLips(.1)
		for k := range m.Upper {
			a := arch(place(k))
			m.Upper[k], m.Lower[k] = m.Left.Y-up*a, m.Left.Y+(.1-up)*a
		}
		c := newColumn(&m, Shape{Width: m.Width(), Upper: 1, Lower: 1}, m.Middle())
		if got := c.lower - c.upper; got > 1e-5 {
			t.Errorf("closed lips are %.3f apart", got)
		}
		if c.upper < m.Upper.middle() || c.upper > m.Lower.middle() {
			t.Errorf("lips from %.3f to %.3f meet at %.3f", m.Upper.middle(), m.Lower.middle(), c.upper)
		}
		return c.upper - m.Left.Y
	}
	lower, upper := straight(.1), straight(0)
	if abs(lower) > .04 || abs(upper) > .02 {
		t.Errorf("lips meet %.3f and %.3f below the corners, want hardly", lower, upper)
	}
}

// TestFieldOpens measures the gap in the middle of a mouth that opens.
func TestFieldOpens(t *testing.T) {
	m := someLips(0)
	line := m.Level()
	for _, want := range []float32{.05, .1, .2, .3} {
		f := wholeField(&m, Shape{Gap: want, Width: m.Width(), Upper: 1, Lower: 1})
		var gap float32
		const step = .001
		for y := m.Nose; y < line+1; y += step {
			v := f.at(geom.Point{X: m.Middle(), Y: y})
			if v.between() {
				gap += step
			}
		}
		if abs(gap-want/archMean) > .01 {
			t.Errorf("gap of %.3f, want %.3f", gap, want/archMean)
		}
		// The chin goes down with it: the pixels there come from higher up.
		chin := f.at(geom.Point{X: m.Middle(), Y: line + chinBelow})
		if got := -chin.down() / want; got < .4 || got > .7 {
			t.Errorf("the chin moves by %.2f of the opening, want about %.2f", got, chinShare)
		}
	}
}

// TestInside opens a mouth with teeth. It always shows the inside of the person's best example, as one piece. Without one it shows its own teeth,
// at their place, while it opens a little. When it opens far it shows a drawn inside: teeth in the measured colour, and behind them neither the
// lips' colour nor black.
func TestInside(t *testing.T) {
	const dark, toothDepth = 60, .18 // luma of the example's inside, and depth at which the drawn inside is tooth
	m, open := someLips(.1), someLips(.28)
	to := geom.Similarity{A: canonicalPixels}
	p := &Person{Most: .25}
	best := Example{Shown: Observation{To: to, Lips: open}, Pixels: drawLips(&open, [2]uint8{dark, 140})}
	drawTeeth(best.Pixels, &open, 0, .06)
	frame := drawLips(&m, teethColour)
	lipCb := float32(78)
	for i := range frame.Cb {
		frame.Cb[i] = uint8(lipCb)
	}
	p.look = lookOf(frame, to)
	best.look = p.look
	for _, c := range []struct {
		name        string
		gap         float32 // of the new shape
		examples    []Example
		aside       float32 // from the middle, of the place that is looked at
		depth       float32 // likewise, 0 at the upper lip and 1 at the lower one
		least, most uint8   // luma
	}{
		{"a little", .11, []Example{best}, .05, .5, dark - 10, dark + 10},
		{"a little, without an example", .11, nil, .05, .5, teethColour[0] - 8, teethColour[0] + 8},
		{"far", .26, []Example{best}, .05, .5, dark - 10, dark + 10},
		{"far, teeth under its lip", .26, []Example{best}, .05, .14, teethColour[0] - 8, teethColour[0] + 8},
		{"far, teeth without an example", .26, nil, .05, toothDepth, lipColour[0] / 4 * 5, lipColour[0] / 2 * 3},
		{"far, the dark without an example", .26, nil, .05, .6, black + 10, lipColour[0] * 2 / 3},
	} {
		p.FindBest(pointers(c.examples), make([]bool, len(c.examples)))
		s := Shape{Gap: c.gap, Width: m.Width(), Upper: 1, Lower: 1}
		painted, _ := Paint(frame, &Wanted{Person: p, Shape: s, Own: Observation{To: to, Lips: m}})
		x := m.Middle() + c.aside
		k := newColumn(&m, s, x)
		at := to.Apply(geom.Point{X: x, Y: k.upper + c.depth*(k.lower-k.upper)})
		if got := painted.Image.Y[painted.Image.YOffset(int(at.X+.5), int(at.Y+.5))]; got < c.least || got > c.most {
			t.Errorf("%s: luma %d, want %d to %d", c.name, got, c.least, c.most)
		}
		if c.depth == toothDepth {
			cb, cr := pixels.ChromaAt(painted.Image, at)
			wantCb, wantCr := grey+.96*(lipCb-grey), grey+.65*(float32(lipColour[1])-grey) // as measured
			if abs(cb-wantCb) > 4 || abs(cr-wantCr) > 4 {
				t.Errorf("%s: Cb %.0f and Cr %.0f, want %.0f and %.0f", c.name, cb, cr, wantCb, wantCr)
			}
		}
	}
}

// TestOrder gives lips a base of the nose that lies among them, and one that lies far above.
func TestOrder(t *testing.T) {
	m := someLips(.1)
	for _, c := range []struct{ nose, want float32 }{{m.Bottom.middle(), m.Top.middle() - noseAbove}, {-3, m.Top.middle() - mostPhiltrum}} {
		m.Nose = c.nose
		if m.order(); m.Nose != c.want {
			t.Errorf("a nose that ends at %.2f: got %.2f, want %.2f", c.nose, m.Nose, c.want)
		}
	}
}

// TestCornersOfTheInside looks from the middle of opened lips to their corners. The inside of an example ends before them, since its lips touch
// there: nothing dark may be seen beyond that end, neither if the mouth opens more or becomes wider, nor if touching lips are read apart.
func TestCornersOfTheInside(t *testing.T) {
	const dark, end = 60, 100 // luma of the inside, and least luma beyond its end
	to := geom.Similarity{A: canonicalPixels}
	for _, c := range []struct {
		name       string
		gap, width float32 // of the new shape, as multiples of the example's
		narrower   float32 // by so much each corner of the lips is farther inwards than it is read
		inside     uint8   // its luma
	}{
		{"teeth, more open", 1.15, 1, 0, teethColour[0]},
		{"teeth, wider", 1, 1.15, 0, teethColour[0]},
		{"dark, wider", 1, 1.15, .05, dark},
	} {
		read := someLips(.1)
		real := read
		real.Left.X, real.Right.X = read.Left.X+c.narrower, read.Right.X-c.narrower
		frame := drawLips(&real, [2]uint8{c.inside, 140})
		p := &Person{look: lookOf(frame, to)}
		s := Shape{Gap: c.gap * read.Gap(), Width: c.width * read.Width(), Upper: 1, Lower: 1}
		painted, _ := Paint(frame, &Wanted{Person: p, Shape: s, Own: Observation{To: to, Lips: read}})
		for _, side := range []float32{-1, 1} {
			ended := false
			for aside := float32(0); aside < .9*s.Width/2; aside += .01 {
				x := read.Middle() + side*aside
				k := newColumn(&read, s, x)
				at := to.Apply(geom.Point{X: x, Y: (k.upper + k.lower) / 2})
				got := painted.Image.Y[painted.Image.YOffset(int(at.X+.5), int(at.Y+.5))]
				if ended = ended || max(got, c.inside)-min(got, c.inside) > 45; ended && got < end {
					t.Errorf("%s: luma %d at %.2f of the way to the corner", c.name, got, side*aside/s.Width*2)
				}
			}
			if !ended && c.inside < end {
				t.Errorf("%s: the dark reaches the corner on side %.0f", c.name, side)
			}
		}
	}
}

// TestLessLightThroughASmallGap looks at the inside of the best example through gaps. That through its own, and through a larger one, is as bright.
func TestLessLightThroughASmallGap(t *testing.T) {
	const bright = 150
	to := geom.Similarity{A: canonicalPixels}
	for _, c := range []struct{ own, gap, want float32 }{ // the share of the light that is left: sines of the angles under which the gaps are seen
		{.28, .28, 1}, {.05, .28, 1}, {.28, .1, .87}, {.28, .05, .65}, {.28, .02, .32},
	} {
		open := someLips(c.own * archMean) // so that it is in the middle
		picture := drawLips(&open, [2]uint8{bright, 140})
		best := Example{Shown: Observation{To: to, Lips: open}, Pixels: picture, look: lookOf(picture, to)}
		p := &Person{Most: .25, look: best.look, best: &lender{&best, 1}}
		in := newInside(p, pane{pixels: picture, to: to, lips: &open}, Shape{Gap: c.gap, Width: open.Width()}, open.Nose, colourOfLips(picture, to, &open), best.look.light)
		upper, lower := open.inner(open.Middle())
		in.pane.at.Y = 0
		got := (in.at(geom.Point{X: open.Middle(), Y: (upper + lower) / 2}, .5, c.gap, true)[0] - black) / (bright - black)
		if abs(got-c.want) > .03 {
			t.Errorf("an inside behind a gap of %.2f, through one of %.2f: %.2f of its luma, want %.2f", c.own, c.gap, got, c.want)
		}
	}
}

// TestInsideStaysWithTheSkull opens closed lips onto the inside of the best example. Its teeth end where they do in the example, however its lips
// lie. Only if they hide more of the teeth than the frame's lips do, the teeth move up to the frame's upper lip; and down with it, if that would hide
// more of them than a lip does that comes down from a loud vowel.
func TestInsideStaysWithTheSkull(t *testing.T) {
	const dark, high, smile = 60, .1, .12 // luma behind the teeth; of these; of the corners of a smile
	closed, to := someLips(0), geom.Similarity{A: canonicalPixels}
	frame := drawLips(&closed, teethColour)
	s := Shape{Gap: .16, Width: closed.Width(), Upper: 1, Lower: 1}
	k := newColumn(&closed, s, closed.Middle())
	for _, c := range []struct {
		name    string
		raised  float32 // the lips
		corners float32 // beyond that
		skull   float32 // the base of the nose and the lips, which are all read so much lower
	}{
		{"as in the frame", 0, 0, 0}, {"a smile", 0, smile, 0}, {"raised", .04, 0, 0}, {"raised in a smile", .04, smile, 0}, {"raised far", .12, 0, 0}, {"lowered", -.06, 0, 0},
		{"read lower", .04, 0, .03}, {"read higher", .04, 0, -.03},
	} {
		open := tiltedLips(.25, c.raised+c.corners-c.skull, c.raised+c.corners-c.skull)
		open.Nose += c.skull
		for _, e := range []*edge{&open.Top, &open.Upper, &open.Lower, &open.Bottom} {
			for k := range e {
				e[k] += c.corners * (1 - square(place(k)))
			}
		}
		best := Example{Shown: Observation{To: to, Lips: open}, Pixels: drawLips(&open, [2]uint8{dark, 140})}
		drawTeeth(best.Pixels, &open, 0, high)
		p := &Person{Most: .25, Line: closed.Level(), look: lookOf(frame, to)}
		best.look = p.look
		p.FindBest([]*Example{&best}, []bool{false})
		end := max(min(open.Upper.middle()-c.skull, k.upper), k.upper-upperShare*p.Most) + high // of the teeth
		raised, lowered := tiltedLips(0, .03, .03), s
		lowered.Shift.Y = .03
		other := Example{Shown: Observation{To: to, Lips: raised}, Pixels: drawLips(&raised, lipColour), look: p.look}
		own := Observation{To: to, Lips: closed}
		for shown, w := range map[string]*Wanted{
			"its own mouth": {Person: p, Shape: s, Own: own},
			"an example whose lips are nearer to the nose": {Person: p, Example: &other, Shape: lowered, Under: s, Own: own},
		} {
			painted, _ := Paint(frame, w)
			got := k.lower - .01
			for ; got > k.upper; got -= .002 { // from below, since the upper lip darkens the teeth
				at := to.Apply(geom.Point{X: closed.Middle(), Y: got})
				if pixels.LumaAt(painted.Image, at) > (dark+float32(teethColour[0]))/2 {
					break
				}
			}
			if abs(got-end) > .012 {
				t.Errorf("%s, %s: the teeth end at %.3f, want %.3f", c.name, shown, got, end)
			}
		}
	}
}

// pointers returns pointers to examples.
func pointers(all []Example) (to []*Example) {
	for i := range all {
		to = append(to, &all[i])
	}
	return to
}

// drawTeeth draws teeth into an open mouth, from and to distances below the edge of its upper lip.
func drawTeeth(f *image.YCbCr, m *Lips, from, to float32) {
	for x := range f.Rect.Dx() {
		upper, lower := m.inner(float32(x) / canonicalPixels)
		for y := int((upper+from)*canonicalPixels + .5); y < int(min(upper+to, lower)*canonicalPixels+.5); y++ {
			f.Y[f.YOffset(x, y)] = teethColour[0]
		}
	}
}

// TestBest finds the best example. It is one that shows the upper teeth, with the teeth apart, and a mouth that is straight, or as tilted as usual, even if it is less open.
// A narrow one shows less; one that is wider than usual shows no more. Of a person who always clenches the teeth the upper ones are shown, and
// not the lower ones; of one who opens the mouth in grimaces only, or never shows teeth, there is none.
func TestBest(t *testing.T) {
	const dark, between = 60, 130 // luma behind the teeth, and of the line between clenched ones
	to := geom.Similarity{A: canonicalPixels}
	with := func(m Lips, behind uint8) Example {
		gap := m.Gap()
		e := Example{Shown: Observation{To: to, Lips: m}, Pixels: drawLips(&m, [2]uint8{behind, 140})}
		drawTeeth(e.Pixels, &m, 0, .4*gap)
		drawTeeth(e.Pixels, &m, .7*gap, gap)
		return e
	}
	mouth := func(gap float32, behind uint8) Example { return with(someLips(gap), behind) }
	uneven := someLips(.4)
	for k := range uneven.Lower {
		uneven.Lower[k] += .15 * place(k)
	}
	large := someLips(.3)
	toothless := Example{Shown: Observation{To: to, Lips: large}, Pixels: drawLips(&large, [2]uint8{40, 140})}
	lower := Example{Shown: Observation{To: to, Lips: large}, Pixels: drawLips(&large, [2]uint8{40, 140})}
	drawTeeth(lower.Pixels, &large, .55*.3, .3)
	under := Example{Shown: Observation{To: to, Lips: large}, Pixels: drawLips(&large, [2]uint8{dark, 140})}
	drawTeeth(under.Pixels, &large, .1*.3, .4*.3)
	for x := range under.Pixels.Rect.Dx() {
		upper, _ := large.inner(float32(x) / canonicalPixels)
		for y := int(upper*canonicalPixels + .5); y < int((upper+.1*.3)*canonicalPixels+.5); y++ {
			under.Pixels.Y[under.Pixels.YOffset(x, y)] = black
		}
	}
	wide := func(gap, width float32) Example {
		m := someLips(gap)
		aside := m.Width() * (width - 1) / 2
		m.Left.X, m.Right.X = m.Left.X-aside, m.Right.X+aside
		return with(m, dark)
	}
	tilted := func(gap float32) Example { return with(tiltedLips(gap, .06, -.06), dark) }
	var p *Person
	for _, c := range []struct {
		name        string
		examples    []Example
		best        int
		least, most float32 // depth at which it ends
	}{
		{"no teeth", []Example{mouth(.2, dark), toothless}, 0, 1, 1},
		{"lower teeth", []Example{mouth(.2, dark), lower}, 0, 1, 1},
		{"teeth under the darkest place", []Example{mouth(.2, dark), under}, 0, 1, 1},
		{"apart", []Example{mouth(.2, dark), mouth(.28, between), mouth(.15, dark)}, 0, 1, 1},
		{"tilted", []Example{mouth(.2, dark), tilted(.4), mouth(.22, dark), mouth(.15, dark)}, 2, 1, 1},
		{"always tilted", []Example{tilted(.19), tilted(.21), tilted(.2)}, 1, 1, 1},
		{"narrow", []Example{wide(.24, .5), mouth(.22, dark), mouth(.2, dark)}, 1, 1, 1},
		{"wide", []Example{wide(.18, 1.4), mouth(.22, dark), mouth(.2, dark)}, 1, 1, 1},
		{"open on one side", []Example{mouth(.2, dark), with(uneven, dark), mouth(.22, dark)}, 2, 1, 1},
		{"clenched", []Example{mouth(.2, between), mouth(.28, between)}, 1, .4, .7},
	} {
		p = &Person{Most: .25}
		if p.FindBest(pointers(c.examples), make([]bool, len(c.examples))); p.best == nil {
			t.Errorf("%s: no best example", c.name)
		} else if p.best.example != &c.examples[c.best] || p.best.end < c.least || p.best.end > c.most {
			t.Errorf("%s: the best example has a gap of %.2f and ends at %.2f", c.name, p.best.example.Shown.Gap(), p.best.end)
		}
	}
	grimaces, all := &Person{Most: .25}, []Example{mouth(.08, dark), tilted(.2), mouth(.09, dark)}
	if grimaces.FindBest(pointers(all), make([]bool, len(all))); grimaces.best != nil {
		t.Errorf("a grimace with a gap of %.2f is the best example", grimaces.best.example.Shown.Gap())
	}
	if grimaces.FindBest([]*Example{&toothless}, []bool{false}); grimaces.best != nil {
		t.Error("the best example shows no teeth")
	}
	closed := someLips(0)
	frame := drawLips(&closed, lipColour)
	p.look = lookOf(frame, to)
	p.best.example.look = p.look
	s := Shape{Gap: .25, Width: closed.Width(), Upper: 1, Lower: 1}
	painted, _ := Paint(frame, &Wanted{Person: p, Shape: s, Own: Observation{To: to, Lips: closed}})
	k := newColumn(&closed, s, closed.Middle())
	for _, c := range []struct {
		depth       float32
		least, most uint8
	}{{.2, teethColour[0] - 15, teethColour[0] + 15}, {.85, black, lipColour[0]}} {
		at := to.Apply(geom.Point{X: closed.Middle(), Y: k.upper + c.depth*(k.lower-k.upper)})
		if got := painted.Image.Y[painted.Image.YOffset(int(at.X+.5), int(at.Y+.5))]; got < c.least || got > c.most {
			t.Errorf("luma %d at depth %.2f, want %d to %d", got, c.depth, c.least, c.most)
		}
	}
}

// TestFieldCloses checks that the lips of an open mouth meet, and that nothing of the inside is taken for a lip.
func TestFieldCloses(t *testing.T) {
	m := someLips(.2)
	for _, gap := range []float32{0, .1} {
		f := wholeField(&m, Shape{Gap: gap, Width: m.Width(), Upper: 1, Lower: 1})
		from := func(y float32) float32 {
			v := f.at(geom.Point{X: m.Middle(), Y: y})
			return y + v.down()
		}
		upper, lower := m.Level()-upperShare*gap/archMean, m.Level()+(1-upperShare)*gap/archMean
		if got := from(upper - .02); got > m.Upper.middle() {
			t.Errorf("gap %.1f: above it from %.3f, inside the mouth that begins at %.3f", gap, got, m.Upper.middle())
		}
		if got := from(lower + .02); got < m.Lower.middle() {
			t.Errorf("gap %.1f: below it from %.3f, inside the mouth that ends at %.3f", gap, got, m.Lower.middle())
		}
	}
}

// TestClosedLipsHideTeeth closes a mouth full of teeth. No teeth may be seen between the lips, and
// the line between them must be darker than the lips.
func TestClosedLipsHideTeeth(t *testing.T) {
	m := tiltedLips(.2, .06, .03) // so that the line crosses the cells
	frame := drawLips(&m, teethColour)
	to := geom.Similarity{A: canonicalPixels}
	p := &Person{}
	for _, gap := range []float32{0, .01} {
		s := Shape{Gap: gap, Width: m.Width(), Upper: 1, Lower: 1}
		painted, _ := Paint(frame, &Wanted{Person: p, Shape: s, Own: Observation{To: to, Lips: m}})
		for x := m.Middle() - .5*m.Width()/2; x < m.Middle()+.5*m.Width()/2; x += .005 {
			c := newColumn(&m, s, x)
			line := float32(255)
			for y := c.upper - .05; y < c.lower+.05; y += .005 {
				luma := pixels.LumaAt(painted.Image, to.Apply(geom.Point{X: x, Y: y}))
				if luma > float32(lipColour[0])+3 {
					t.Fatalf("gap %g: teeth at %.3f, %.3f: luma %.0f, of the lips %d", gap, x, y, luma, lipColour[0])
				}
				line = min(line, luma)
			}
			if dark := 1 - line/float32(lipColour[0]); dark < .15 || dark > .6 {
				t.Fatalf("gap %g: at %.3f the line is %.0f %% darker than the lips", gap, x, 100*dark)
			}
		}
	}
}

// TestLipEdgeIsSmooth closes a tilted mouth full of teeth by half. The height of the teeth that
// are seen must change from column to column by less than half a pixel, so that the edge of the
// lower lip has no steps.
func TestLipEdgeIsSmooth(t *testing.T) {
	m := tiltedLips(.2, .06, -.06)
	to := geom.Similarity{A: canonicalPixels}
	p := &Person{}
	s := Shape{Gap: .1, Width: m.Width(), Upper: 1, Lower: 1}
	painted, _ := Paint(drawLips(&m, teethColour), &Wanted{Person: p, Shape: s, Own: Observation{To: to, Lips: m}})
	lip, teeth := float32(lipColour[0]), float32(teethColour[0])
	before := float32(-1)
	for x := int((m.Middle() - .2) * canonicalPixels); x < int((m.Middle()+.2)*canonicalPixels); x++ {
		var height float32
		c := newColumn(&m, s, float32(x)/canonicalPixels)
		for y := int(c.upper*canonicalPixels) - 3; y < int(c.lower*canonicalPixels)+4; y++ {
			height += pixels.Unit((float32(painted.Image.Y[painted.Image.YOffset(x, y)]) - lip) / (teeth - lip))
		}
		if before >= 0 && abs(height-before) > .5 {
			t.Errorf("at %d: teeth of %.2f pixels beside %.2f", x, height, before)
		}
		before = height
	}
}

// TestFieldNarrows checks mouths that become narrower and wider: the corners move, and the cheeks
// beyond asideReach stay.
func TestFieldNarrows(t *testing.T) {
	m := someLips(0)
	for _, by := range []float32{1 - narrowest, 1 + broadest} {
		width := by * m.Width()
		f := wholeField(&m, Shape{Width: width, Upper: 1, Lower: 1})
		for _, side := range []float32{-1, 1} {
			corner := m.Middle() + side*width/2
			if got, want := corner+f.at(geom.Point{X: corner, Y: 1.57}).dx, m.Middle()+side*m.Width()/2; abs(got-want) > .01 {
				t.Errorf("width × %.2f: the corner comes from %.3f, want %.3f", by, got, want)
			}
			beyond := corner + side*(asideReach+.02)
			if got := f.at(geom.Point{X: beyond, Y: 1.57}).dx; got != 0 {
				t.Errorf("width × %.2f: the cheek at %.2f comes from %.3f beside", by, beyond, got)
			}
		}
	}
}

func TestInterpolate(t *testing.T) {
	xs, ys := []float32{1, 2, 2, 4}, []float32{10, 11, 20, 30}
	for _, c := range []struct{ x, want float32 }{
		{x: 0, want: 9}, {x: 1, want: 10}, {x: 1.5, want: 10.5}, {x: 2, want: 11}, {x: 3, want: 25}, {x: 4, want: 30}, {x: 6, want: 32},
	} {
		if got := interpolate(c.x, xs, ys); abs(got-c.want) > 1e-5 {
			t.Errorf("at %g: got %g, want %g", c.x, got, c.want)
		}
	}
}

// TestPatch checks the mask of a patch.
func TestPatch(t *testing.T) {
	p := &patch{middle: 1.2, side: patchHalf, top: 1.22, bottom: 2}
	if got := p.mask(geom.Point{X: 1.2, Y: 1.61}); got != 1 {
		t.Errorf("in the middle: mask %g, want 1", got)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		c := geom.Point{X: 3 * r.Float32(), Y: 3.5 * r.Float32()}
		mask := p.mask(c)
		outside := abs(c.X-p.middle) >= p.side || c.Y <= p.top || c.Y >= p.bottom
		if !(mask >= 0 && mask <= 1) || outside && mask != 0 {
			t.Errorf("at %v: mask %g", c, mask)
		}
		mirrored := geom.Point{X: 2*p.middle - c.X, Y: c.Y}
		if abs(p.mask(mirrored)-mask) > 1e-3 {
			t.Errorf("at %v: mask %g, but %g on the other side", c, mask, p.mask(mirrored))
		}
	}
}

// TestFieldSkipsInside checks that nothing of the inside of a mouth is seen between
// lips that close, however fine the pixels and however tilted the mouth.
func TestFieldSkipsInside(t *testing.T) {
	for _, c := range []struct{ gap, roll, tilt float32 }{
		{gap: .05}, {gap: .2, tilt: .1}, {gap: .05, roll: .3, tilt: .1}, {gap: .2, roll: .3, tilt: -.1},
	} {
		m := someLips(c.gap)
		m = tiltedLips(c.gap, c.tilt*m.Width()/2, -c.tilt*m.Width()/2)
		f := wholeField(&m, Shape{Width: m.Width(), Upper: 1, Lower: 1, roll: c.roll})
		for x := m.Left.X + .1; x < m.Right.X-.1; x += .003 {
			u, l := m.inner(x)
			for y := u - .2; y < l+.2; y += .001 {
				v := f.at(geom.Point{X: x, Y: y})
				if from := y + v.down(); from > u+.002 && from < l-.002 {
					t.Fatalf("%v: at %.3f, %.3f: from %.3f, between the lips at %.3f and %.3f", c, x, y, from, u, l)
				}
			}
		}
	}
}

// TestFieldPresses checks that lips which were apart become thinner where they are
// pressed together, and that lips which touch already stay as they are.
func TestFieldPresses(t *testing.T) {
	for _, c := range []struct{ gap, thinner float32 }{{gap: .1, thinner: .3}, {gap: 0, thinner: 0}} {
		m := someLips(c.gap)
		f := wholeField(&m, Shape{Width: m.Width(), Upper: 1, Lower: 1, roll: .3})
		x, want := m.Middle(), (m.Bottom.middle()-m.Lower.middle())*(1-c.thinner)
		top := m.Level() // of the lower lip once it is closed
		for y := top; y < top+.5; y += .001 {
			if v := f.at(geom.Point{X: x, Y: y}); y+v.down() >= m.Bottom.middle() {
				if got := y - top; abs(got-want) > .015 {
					t.Errorf("gap %.2f: the lower lip is %.3f high, want %.3f", c.gap, got, want)
				}
				break
			}
		}
	}
}
