package facetest

import (
	"image"
	"image/color"
	"math"
)

// Object is a thing that is held in front of a head: an upright bar with a round upper end, which reaches down to the edge of the frame.
type Object struct {
	X, Y   float64 // the middle of its upper end, pixels
	Width  float64 // pixels
	Colour color.YCbCr
	Groove float64 // distance of dark grooves, such as those between fingers, pixels; 0: it has none
}

// Covers tells whether the object covers a place of the frame.
func (o Object) Covers(x, y float64) bool {
	return math.Abs(x-o.X) < o.Width/2 && (y > o.Y+o.Width/2 || math.Hypot(x-o.X, y-o.Y-o.Width/2) < o.Width/2)
}

// Draw draws the object on a frame.
func (o Object) Draw(f *image.YCbCr) {
	for y := range f.Rect.Dy() {
		for x := range f.Rect.Dx() {
			if !o.Covers(float64(x), float64(y)) {
				continue
			}
			light := 1.0
			if o.Groove > 0 {
				light = .7 + .3*math.Sqrt(math.Abs(math.Sin(math.Pi*(float64(x)-o.X)/o.Groove)))
			}
			f.Y[f.YOffset(x, y)] = uint8(light * float64(o.Colour.Y))
			f.Cb[f.COffset(x, y)], f.Cr[f.COffset(x, y)] = o.Colour.Cb, o.Colour.Cr
		}
	}
}
