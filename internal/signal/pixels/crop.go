package pixels

import (
	"image"

	"lipsync/internal/signal/geom"
)

// Crop is a copy of a part of a frame, with a soft copy of its luma for
// registration and for measures of the face.
type Crop struct {
	*image.YCbCr // 4:2:0, Rect in the frame's coordinates, its edges even
	soft         Plane[uint8]
	factor       float32 // width and height of a pixel of soft, in pixels of the frame
}

// softScale is about the number of soft pixels between the pupils.
const softScale = 64

// NewCrop copies the part of the frame inside the rectangle. The pupils are eyes
// pixels apart in it. NewCrop returns nil if hardly any of the rectangle is in the
// frame.
func NewCrop(frame *image.YCbCr, area image.Rectangle, eyes float32) *Crop {
	area = Even(area).Intersect(Even(frame.Rect))
	factor := max(1, int(eyes/softScale+.5))
	if least := max(16, factor); area.Dx() < least || area.Dy() < least {
		return nil
	}
	c := &Crop{YCbCr: Copy(frame, area), factor: float32(factor)}
	c.soft = blur(Shrink(c.YCbCr, area, factor))
	return c
}

// Soft returns the soft luma at a place in the frame.
func (c *Crop) Soft(q geom.Point) float32 {
	return c.soft.Bilinear((q.X-float32(c.Rect.Min.X)+.5)/c.factor-.5, (q.Y-float32(c.Rect.Min.Y)+.5)/c.factor-.5)
}

// softLuma returns the soft luma, and the similarity from the coordinates of the
// frame to those of the soft luma.
func (c *Crop) softLuma() (Plane[uint8], geom.Similarity) {
	return c.soft, geom.Similarity{A: 1 / c.factor,
		X: (.5-float32(c.Rect.Min.X))/c.factor - .5, Y: (.5-float32(c.Rect.Min.Y))/c.factor - .5}
}

// SoftPoints fills out with the soft luma at places. to is the similarity from the
// coordinates of the places to the frame.
func (c *Crop) SoftPoints(out []float32, places []geom.Point, to geom.Similarity) {
	soft, fromFrame := c.softLuma()
	toSoft := to.Then(fromFrame)
	right, bottom := float32(soft.Width-1), float32(soft.Height-1)
	out = out[:len(places)]
	for i, p := range places {
		q := toSoft.Apply(p)
		if !(q.X >= 0 && q.Y >= 0 && q.X < right && q.Y < bottom) {
			out[i] = soft.bilinearAtBorder(q.X, q.Y)
			continue
		}
		x, y := int(q.X), int(q.Y)
		upper := soft.Pix[y*soft.Stride+x:]
		lower := upper[soft.Stride:]
		out[i] = between(upper[0], upper[1], lower[0], lower[1], q.X-float32(x), q.Y-float32(y))
	}
}

// SoftGrid fills out with the soft luma of a grid of width values a row. The first
// value is at origin, and neighbours are step apart, in canonical coordinates. to is
// the similarity from these to the frame. SoftGrid is faster than a call of Soft for
// each value.
func (c *Crop) SoftGrid(out []float32, width int, to geom.Similarity, origin geom.Point, step float32) {
	soft, fromFrame := c.softLuma()
	toSoft := to.Then(fromFrame)
	first := toSoft.Apply(origin)
	right := geom.Point{X: toSoft.A * step, Y: toSoft.B * step}
	for i := range len(out) / width {
		x, y := first.X-right.Y*float32(i), first.Y+right.X*float32(i)
		row := out[i*width:][:width]
		for k := range row {
			row[k] = soft.Bilinear(x+right.X*float32(k), y+right.Y*float32(k))
		}
	}
}
