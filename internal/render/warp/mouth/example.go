package mouth

import (
	"image"
	"math"

	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// Example is the mouth of one frame, cut out of it, that other frames may show.
type Example struct {
	Shown  Observation // of that frame
	Pixels *image.YCbCr
	look   look // of the face in that frame
}

// NewExample cuts the mouth of an observation out of its frame. Shown is set later, by the smoothed observation.
func NewExample(c *pixels.Crop, o *Observation) Example {
	return Example{Pixels: cutMouth(c, o), look: lookOf(c.YCbCr, o.To)}
}

// The pixels of an example reach cutHalf to each side of the middle of the mouth, from cutAbove
// above the base of the nose to cutBelow below the lips, canonical. No patch reads more, whatever
// its shape: see patchHalf, patchBelow and reach.
const cutHalf, cutAbove, cutBelow = .95, .15, .75

// cutMouth copies the pixels of an example.
func cutMouth(c *pixels.Crop, o *Observation) *image.YCbCr {
	area := bounds(o.To, region{o.Middle() - cutHalf, o.Nose - cutAbove, o.Middle() + cutHalf, o.Bottom.middle() + cutBelow})
	return pixels.Copy(c.YCbCr, area.Intersect(c.Rect))
}

// bounds returns the smallest rectangle of the frame with even edges that holds a canonical
// rectangle.
func bounds(to geom.Similarity, r region) image.Rectangle {
	out := image.Rectangle{Min: image.Pt(math.MaxInt32, math.MaxInt32), Max: image.Pt(math.MinInt32, math.MinInt32)}
	for _, c := range []geom.Point{{X: r.left, Y: r.top}, {X: r.right, Y: r.top}, {X: r.left, Y: r.bottom}, {X: r.right, Y: r.bottom}} {
		q := to.Apply(c)
		x, y := int(math.Floor(float64(q.X))), int(math.Floor(float64(q.Y)))
		out.Min.X, out.Min.Y = min(out.Min.X, x), min(out.Min.Y, y)
		out.Max.X, out.Max.Y = max(out.Max.X, x+1), max(out.Max.Y, y+1)
	}
	return pixels.Even(out)
}

const (
	mostCrumbs         = .05        // largest height of crumbs, canonical: an edge of lips is read up to 2 mm beside its place, and is soft
	toothFrom, toothTo = 1.05, 1.25 // luma of teeth, as a multiple of that of the lip, from which on they begin to be told from it, and surely are; by eye
)

// crumbs are the heights of the teeth that lie on what was read as a lip, canonical, at even places from the left corner to the right one.
type crumbs [17]float32

// crumbs returns the crumbs of the upper and the lower lip of an open mouth: a lip is teeth as far beyond its edge as it is brighter than half way from
// the lip to the teeth beside it, and there is their soft edge. Each place is judged with its neighbours.
func (e *Example) crumbs() (all [2]crumbs) {
	if m := &e.Shown.Lips; m.Gap() > thinGap {
		all = [2]crumbs{e.crumbsOf(&m.Upper, &m.Top, -1), e.crumbsOf(&m.Lower, &m.Bottom, 1)}
	}
	return all
}

// crumbsOf returns the crumbs of a lip with an inner and an outer edge. The outer one lies up or down from the inner one: up is -1, down is 1.
func (e *Example) crumbsOf(inner, outer *edge, way float32) (high crumbs) {
	const steps = 5
	const step = mostCrumbs / steps
	m := &e.Shown.Lips
	for k := 1; k < len(high)-1; k++ {
		luma := func(at func(x float32) float32) (mean float32) {
			for _, beside := range [...]float32{-1, 0, 1} {
				x := m.Left.X + m.Width()*(float32(k)+beside)/float32(len(high)-1)
				mean += (pixels.LumaAt(e.Pixels, e.Shown.To.Apply(geom.Point{X: x, Y: at(x)})) - black) / 3
			}
			return mean
		}
		onLip := func(n float32) float32 {
			return luma(func(x float32) float32 { return inner.at(m, x) + way*n*step })
		}
		lip := max(luma(func(x float32) float32 { return (inner.at(m, x) + outer.at(m, x)) / 2 }), 1)
		here := onLip(0)
		teeth := max(here, onLip(-1), onLip(-2), onLip(-3))
		surely := smoothstep((teeth/lip - toothFrom) / (toothTo - toothFrom))
		if half := (teeth + lip) / 2; surely > 0 && here > half {
			n := float32(0)
			for ; n < steps-1; n++ {
				next := onLip(n + 1)
				if next <= half {
					n += (here - half) / (here - next)
					break
				}
				here = next
			}
			high[k] = surely * (n + min(n, 1)) * step
		}
	}
	return high
}

// at returns the height at s half widths from the middle.
func (c *crumbs) at(s float32) float32 { return along(c[:], pixels.Unit((s+1)/2)) }
