package pixels

import (
	"image"

	"lipsync/internal/signal/geom"
)

// Sampler reads a frame in pixels that are larger or smaller than its own. Outside the
// frame the pixels of its border repeat.
type Sampler struct {
	left, top     float32      // of the frame
	light         Plane[uint8] // its luma
	blue, red     Plane[uint8] // its Cb and Cr
	taps          int          // a pixel is the mean of taps × taps values of luma
	step, between float32      // from the place to the first tap, and from tap to tap, pixels of the frame
	share         float32      // weight of each tap
}

// NewSampler returns a sampler of a frame of at least two by two pixels. One of its pixels is scale pixels of the frame wide and
// high.
func NewSampler(frame *image.YCbCr, scale float32) Sampler {
	const most = 4 // more would be slow and look the same to a network
	taps := min(max(int(scale/2+.5), 1), most)
	between := scale / float32(taps)
	blue, red := Chroma(frame)
	return Sampler{left: float32(frame.Rect.Min.X), top: float32(frame.Rect.Min.Y), light: Luma(frame), blue: blue, red: red,
		taps: taps, step: -between * float32(taps-1) / 2, between: between, share: 1 / float32(taps*taps)}
}

// Square fills an area of the planes of a square picture of side × side pixels with red, green and blue from 0 to 1. The area's edges are even. at
// is the similarity to the frame from the picture, whose coordinates are pixels from the centre of the first one. Chroma is read once for each two by
// two pixels: a frame has no more of it.
func (s *Sampler) Square(area image.Rectangle, side int, at geom.Similarity, red, green, blue []float32) {
	place := func(x, y float32) geom.Point { return at.Apply(geom.Point{X: x, Y: y}) }
	acrossX, acrossY := int(at.A*placeOne), int(at.B*placeOne) // two pixels of the square, half as many of chroma
	for y := area.Min.Y; y < area.Max.Y; y++ {
		s.lumaRow(red[y*side:][area.Min.X:area.Max.X], place(float32(area.Min.X), float32(y)), at)
	}
	for y := area.Min.Y; y < area.Max.Y; y += 2 {
		u, v := s.inChroma(place(float32(area.Min.X)+.5, float32(y)+.5))
		for x := area.Min.X; x < area.Max.X; x += 2 {
			r, g, b := chromaInRGB(s.chroma(u, v))
			u, v = u+acrossX, v+acrossY
			for i := y*side + x; i <= (y+1)*side+x; i += side {
				reds, greens, blues := (*[2]float32)(red[i:]), (*[2]float32)(green[i:]), (*[2]float32)(blue[i:])
				left, right := lumaInRGB(reds[0]), lumaInRGB(reds[1])
				reds[0], greens[0], blues[0] = Unit(left+r), Unit(left+g), Unit(left+b)
				reds[1], greens[1], blues[1] = Unit(right+r), Unit(right+g), Unit(right+b)
			}
		}
	}
}

// Squares count in whole numbers: places in 65536ths of a pixel (placeOne), and shares of pixels in 256ths. A share is cut off, so a value beside a
// sharp edge is up to two levels off.
const placeOne, shareBits, shareMask = 1 << 16, 8, 1<<8 - 1

// lumaRow fills a part of a row of a square with luma. start is the place of the first pixel in the frame.
func (s *Sampler) lumaRow(row []float32, start geom.Point, at geom.Similarity) {
	acrossX, acrossY := int(at.A*placeOne), int(at.B*placeOne)
	right, bottom := (s.light.Width-1)*placeOne-1, (s.light.Height-1)*placeOne-1
	pix, stride, share := s.light.Pix, s.light.Stride, s.share/(1<<(2*shareBits))
	clear(row)
	for tap := range s.taps * s.taps {
		x := int((start.X - s.left + s.step + float32(tap%s.taps)*s.between) * placeOne)
		y := int((start.Y - s.top + s.step + float32(tap/s.taps)*s.between) * placeOne)
		for i := range row {
			nearX, nearY := min(max(x, 0), right), min(max(y, 0), bottom)
			k, fx, fy := (nearY>>16)*stride+(nearX>>16), nearX>>shareBits&shareMask, nearY>>shareBits&shareMask
			row[i] += float32(mixed((*[2]uint8)(pix[k:]), (*[2]uint8)(pix[k+stride:]), fx, fy)) * share
			x, y = x+acrossX, y+acrossY
		}
	}
}

// inChroma returns the place in the planes of chroma of a place in the frame, in 65536ths of their pixels, which are twice as large.
func (s *Sampler) inChroma(q geom.Point) (x, y int) {
	return int(((q.X-s.left)/2 - .25) * placeOne), int(((q.Y-s.top)/2 - .25) * placeOne)
}

// chroma returns Cb and Cr at a place of inChroma.
func (s *Sampler) chroma(x, y int) (cb, cr float32) {
	if x < 0 || y < 0 || x >= (s.blue.Width-1)*placeOne || y >= (s.blue.Height-1)*placeOne {
		x, y := float32(x)/placeOne, float32(y)/placeOne
		return s.blue.bilinearAtBorder(x, y), s.red.bilinearAtBorder(x, y)
	}
	k, fx, fy := (y>>16)*s.blue.Stride+(x>>16), x>>shareBits&shareMask, y>>shareBits&shareMask
	value := func(pix []uint8) float32 {
		return float32(mixed((*[2]uint8)(pix[k:]), (*[2]uint8)(pix[k+s.blue.Stride:]), fx, fy)) / placeOne
	}
	return value(s.blue.Pix), value(s.red.Pix)
}

// mixed is between in whole numbers: fx and fy are in 256ths, and the value in 65536ths.
func mixed(upper, lower *[2]uint8, fx, fy int) int {
	above := int(upper[0])<<shareBits + (int(upper[1])-int(upper[0]))*fx
	below := int(lower[0])<<shareBits + (int(lower[1])-int(lower[0]))*fx
	return above<<shareBits + (below-above)*fy
}

// RGB returns red, green and blue around a place in the frame, each from 0 to 1.
func (s *Sampler) RGB(q geom.Point) (r, g, b float32) {
	cb, cr := s.chroma(s.inChroma(q))
	return ToRGB(s.Luma(q), cb, cr)
}

// Luma returns the mean luma around a place in the frame.
func (s *Sampler) Luma(q geom.Point) float32 {
	x, y := q.X-s.left+s.step, q.Y-s.top+s.step
	if s.taps == 1 {
		return s.light.Bilinear(x, y)
	}
	var sum float32
	for i := range s.taps {
		for j := range s.taps {
			sum += s.light.Bilinear(x+float32(j)*s.between, y+float32(i)*s.between)
		}
	}
	return sum * s.share
}
