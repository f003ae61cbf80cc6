package pixels

import (
	"image"

	"lipsync/internal/geom"
)

// Sampler reads a frame as a picture with larger or smaller pixels shows it.
// Beyond the border it goes on with the border's pixels.
type Sampler struct {
	y, cb, cr     Plane[uint8]
	left, top     float32
	taps          int     // of luma for a pixel, each way
	step, between float32 // before the first tap, and from tap to tap, pixels
	share         float32 // of each tap
}

// NewSampler returns a sampler whose pixels are scale pixels of the frame wide
// and high.
func NewSampler(frame *image.YCbCr, scale float32) Sampler {
	const most = 4 // more would be slow and look the same to a network
	taps := min(max(int(scale/2+.5), 1), most)
	s := Sampler{y: Luma(frame), left: float32(frame.Rect.Min.X), top: float32(frame.Rect.Min.Y), taps: taps}
	s.cb, s.cr = Chroma(frame)
	s.between = scale / float32(taps)
	s.step = -s.between * float32(taps-1) / 2
	s.share = 1 / float32(taps*taps)
	return s
}

// RGB returns red, green and blue around a place in the frame, each from 0 to 1.
func (s *Sampler) RGB(q geom.Point) (r, g, b float32) {
	x, y := (q.X-s.left)/2-.25, (q.Y-s.top)/2-.25
	return ToRGB(s.Luma(q), s.cb.Bilinear(x, y), s.cr.Bilinear(x, y))
}

// Luma returns the mean luma around a place in the frame.
func (s *Sampler) Luma(q geom.Point) float32 {
	x, y := q.X-s.left+s.step, q.Y-s.top+s.step
	if s.taps == 1 {
		return s.y.Bilinear(x, y)
	}
	var sum float32
	for i := range s.taps {
		for j := range s.taps {
			sum += s.y.Bilinear(x+float32(j)*s.between, y+float32(i)*s.between)
		}
	}
	return sum * s.share
}
