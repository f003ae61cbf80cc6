package face

import "image"

// sampler reads colours of a frame between its pixels, as a picture with pixels
// of a scale shows them. Beyond the border it goes on with the border's.
type sampler struct {
	*image.YCbCr
	taps int     // of luma for a pixel, each way
	step float32 // between them
}

func newSampler(frame *image.YCbCr, scale float32) sampler {
	const most = 4 // more would be slow and look the same to a network
	taps := min(max(int(scale/2+.5), 1), most)
	return sampler{frame, taps, scale / float32(taps)}
}

// at returns red, green and blue, 0 to 255.
func (s sampler) at(q Point) (r, g, b float32) {
	x, y := q.X-float32(s.Rect.Min.X), q.Y-float32(s.Rect.Min.Y)
	width, height := s.Rect.Dx(), s.Rect.Dy()
	cx, cy := x/2-.25, y/2-.25
	return colour(s.luma(x, y),
		Bilinear(s.Cb, width/2, height/2, s.CStride, cx, cy),
		Bilinear(s.Cr, width/2, height/2, s.CStride, cx, cy))
}

// luma returns the mean of the taps around a place.
func (s sampler) luma(x, y float32) (mean float32) {
	first := -s.step * float32(s.taps-1) / 2
	for i := range s.taps {
		for j := range s.taps {
			mean += Bilinear(s.Y, s.Rect.Dx(), s.Rect.Dy(), s.YStride, x+first+float32(j)*s.step, y+first+float32(i)*s.step)
		}
	}
	return mean / float32(s.taps*s.taps)
}
