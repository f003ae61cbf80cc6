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
