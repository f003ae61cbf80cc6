package pixels

import (
	"image"

	"lipsync/internal/signal/geom"
)

// Sampler reads a frame in pixels that are larger or smaller than its own. Outside the
// frame the pixels of its border repeat.
type Sampler struct {
	frame         *image.YCbCr
	taps          int     // a pixel is the mean of taps × taps values of luma
	step, between float32 // from the place to the first tap, and from tap to tap, pixels of the frame
	share         float32 // weight of each tap
}

// NewSampler returns a sampler. One of its pixels is scale pixels of the frame wide and
// high.
func NewSampler(frame *image.YCbCr, scale float32) Sampler {
	const most = 4 // more would be slow and look the same to a network
	taps := min(max(int(scale/2+.5), 1), most)
	between := scale / float32(taps)
	return Sampler{frame: frame, taps: taps, step: -between * float32(taps-1) / 2, between: between, share: 1 / float32(taps*taps)}
}

// RGB returns red, green and blue around a place in the frame, each from 0 to 1.
func (s *Sampler) RGB(q geom.Point) (r, g, b float32) {
	cb, cr := ChromaAt(s.frame, q)
	return ToRGB(s.luma(q), cb, cr)
}

// luma returns the mean luma around a place in the frame.
func (s *Sampler) luma(q geom.Point) float32 {
	luma := Luma(s.frame)
	x, y := q.X-float32(s.frame.Rect.Min.X)+s.step, q.Y-float32(s.frame.Rect.Min.Y)+s.step
	var sum float32
	for i := range s.taps {
		for j := range s.taps {
			sum += luma.Bilinear(x+float32(j)*s.between, y+float32(i)*s.between)
		}
	}
	return sum * s.share
}
