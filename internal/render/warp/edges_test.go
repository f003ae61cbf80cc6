package warp

import (
	"image"
	"testing"

	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// The colours of a drawn mouth: luma and Cr.
var (
	skinColour  = [2]uint8{150, 140}
	lipColour   = [2]uint8{110, 160}
	darkColour  = [2]uint8{40, 135}
	teethColour = [2]uint8{180, 132}
)

const canonicalPixels = 100 // a canonical unit, in the crops of these tests

// drawLips draws a mouth from outer edge to outer edge, with the given colour
// between its lips. Its edges are smooth.
func drawLips(m *lips, inside [2]uint8) *pixels.Crop {
	const parts = 8 // of a pixel's height
	f := image.NewYCbCr(image.Rect(0, 0, 240, 260), image.YCbCrSubsampleRatio420)
	for y := range 260 {
		for x := range 240 {
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
	return pixels.NewCrop(f, f.Rect, canonicalPixels)
}

// colourOf returns the colour of a place of the canonical face.
func colourOf(m *lips, q geom.Point, inside [2]uint8) [2]uint8 {
	if abs(q.X-m.middle()) >= m.width()/2 {
		return skinColour
	}
	top, bottom := m.outer(q.X)
	upper, lower := m.inner(q.X)
	switch {
	case q.Y < top || q.Y > bottom:
		return skinColour
	case q.Y > upper && q.Y < lower:
		return inside
	default:
		return lipColour
	}
}

// TestEdges measures the inner edges of the lips of drawn mouths that are closed, dark inside or full
// of teeth.
func TestEdges(t *testing.T) {
	to := geom.Similarity{A: canonicalPixels}
	for _, c := range []struct {
		name   string
		gap    float32
		inside [2]uint8
	}{
		{name: "closed", gap: 0, inside: lipColour},
		{name: "dark", gap: .1, inside: darkColour},
		{name: "wide and dark", gap: .3, inside: darkColour},
		{name: "teeth", gap: .12, inside: teethColour},
		{name: "a wide smile", gap: .25, inside: teethColour},
	} {
		t.Run(c.name, func(t *testing.T) {
			colours := new(colours)
			wide := someLips(.25) // its frame teaches the colours
			colours.edges(drawLips(&wide, c.inside), to, &wide)
			m := someLips(c.gap)
			upper, lower := colours.edges(drawLips(&m, c.inside), to, &m)
			if c.gap == 0 {
				if upper != lower {
					t.Errorf("a gap of %.3f between closed lips", lower-upper)
				}
				return
			}
			if abs(upper-m.upper) > .02 || abs(lower-m.lower) > .02 {
				t.Errorf("got %.3f to %.3f, want %.3f to %.3f", upper, lower, m.upper, m.lower)
			}
		})
	}
}

// TestDark measures the dark share of drawn mouths.
func TestDark(t *testing.T) {
	to := geom.Similarity{A: canonicalPixels}
	for _, c := range []struct {
		gap         float32
		inside      [2]uint8
		least, most float32 // dark share
	}{
		{gap: .2, inside: darkColour, least: .9, most: 1},
		{gap: .2, inside: teethColour, least: 0, most: .1},
		{gap: 0, inside: lipColour, least: 0, most: 0},
	} {
		m, colours := someLips(c.gap), new(colours)
		crop := drawLips(&m, c.inside)
		colours.edges(crop, to, &m)
		if got := colours.dark(crop, to, &m); got < c.least || got > c.most {
			t.Errorf("gap %.1f, inside of luma %d: got %.2f, want %.2f to %.2f", c.gap, c.inside[0], got, c.least, c.most)
		}
	}
}

// TestReconcile checks the mean of both readings of a gap.
func TestReconcile(t *testing.T) {
	for _, c := range []struct{ inner, outer, want float32 }{
		{inner: .2, outer: .2, want: .2},
		{inner: .2, outer: .1, want: .15}, // a highlight on a lip was mistaken for teeth
		{inner: 0, outer: .1, want: .05},
		{inner: .02, outer: .02, want: .02}, // small, but it has to close
		{inner: 0, outer: 0, want: 0},
	} {
		m := someLips(c.inner)
		m.bottom = m.top + .25 + c.outer
		m.reconcile(.25)
		if got := m.gap(); abs(got-c.want) > 1e-4 {
			t.Errorf("inner edges %.2f, outer %.2f: got %.3f, want %.3f", c.inner, c.outer, got, c.want)
		}
	}
}
