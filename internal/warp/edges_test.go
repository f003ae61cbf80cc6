package warp

import (
	"image"
	"testing"

	"lipsync/internal/geom"
	"lipsync/internal/pixels"
)

// Colours of a drawn mouth: luma and Cr.
var (
	skinColour  = [2]uint8{150, 140}
	lipColour   = [2]uint8{110, 160}
	darkColour  = [2]uint8{40, 135}
	teethColour = [2]uint8{180, 132}
)

const canonicalPixels = 100 // a canonical unit, in the crops of these tests

// drawMouth draws a mouth from outer edge to outer edge, with the given colour
// between its lips.
func drawMouth(m *mouth, inside [2]uint8) *pixels.Crop {
	f := image.NewYCbCr(image.Rect(0, 0, 240, 260), image.YCbCrSubsampleRatio420)
	for y := range 260 {
		for x := range 240 {
			q := geom.Point{X: float32(x) / canonicalPixels, Y: float32(y) / canonicalPixels}
			c := skinColour
			if abs(q.X-m.middle()) < m.width()/2 {
				top, bottom := m.outer(q.X)
				upper, lower := m.inner(q.X)
				switch {
				case q.Y < top || q.Y > bottom:
				case q.Y > upper && q.Y < lower:
					c = inside
				default:
					c = lipColour
				}
			}
			f.Y[f.YOffset(x, y)], f.Cr[f.COffset(x, y)] = c[0], c[1]
		}
	}
	return pixels.NewCrop(f, f.Rect, canonicalPixels)
}

// TestEdges measures drawn mouths that are closed, dark inside or full of teeth.
func TestEdges(t *testing.T) {
	to := geom.Similarity{A: canonicalPixels}
	for _, c := range []struct {
		name   string
		gap    float32
		inside [2]uint8
	}{
		{"closed", 0, lipColour}, {"dark", .1, darkColour}, {"wide and dark", .3, darkColour},
		{"teeth", .12, teethColour}, {"a wide smile", .25, teethColour},
	} {
		t.Run(c.name, func(t *testing.T) {
			colours := new(colours)
			var wide = someMouth(.25) // of which the colours are learned
			colours.edges(drawMouth(&wide, c.inside), to, &wide)
			m := someMouth(c.gap)
			upper, lower := colours.edges(drawMouth(&m, c.inside), to, &m)
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

// TestReconcile checks the mean of both readings of a gap.
func TestReconcile(t *testing.T) {
	for _, c := range []struct{ inner, outer, want float32 }{
		{.2, .2, .2},
		{.2, .1, .15}, // a shine on a lip was taken for teeth
		{0, .1, .05},
		{.02, .02, .02}, // small, but it has to close
		{0, 0, 0},
	} {
		m := someMouth(c.inner)
		m.bottom = m.top + .25 + c.outer
		m.reconcile(.25)
		if got := m.gap(); abs(got-c.want) > 1e-4 {
			t.Errorf("inner edges %.2f, outer %.2f: got %.3f, want %.3f", c.inner, c.outer, got, c.want)
		}
	}
}
