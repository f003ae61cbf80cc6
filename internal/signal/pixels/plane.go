// Package pixels reads pictures between and across their pixels: interpolation,
// reduction, filters and colour matrices. Pictures are 4:2:0 as decoders give
// them, in BT.601's or BT.709's limited range.
package pixels

import "image"

// Plane is one channel of a picture, row by row.
type Plane[T uint8 | float32] struct {
	Pix                   []T
	Width, Height, Stride int
}

// NewPlane returns a plane of zeros.
func NewPlane[T uint8 | float32](width, height int) Plane[T] {
	return Plane[T]{Pix: make([]T, width*height), Width: width, Height: height, Stride: width}
}

// Luma returns the luma of a frame.
func Luma(f *image.YCbCr) Plane[uint8] {
	return Plane[uint8]{f.Y, f.Rect.Dx(), f.Rect.Dy(), f.YStride}
}

// Chroma returns the planes Cb and Cr of a 4:2:0 frame.
func Chroma(f *image.YCbCr) (cb, cr Plane[uint8]) {
	w, h := (f.Rect.Dx()+1)/2, (f.Rect.Dy()+1)/2
	return Plane[uint8]{f.Cb, w, h, f.CStride}, Plane[uint8]{f.Cr, w, h, f.CStride}
}

// Row returns a row of pixels. If y is outside, it is the nearest row.
func (p Plane[T]) Row(y int) []T {
	return p.Pix[min(max(y, 0), p.Height-1)*p.Stride:][:p.Width]
}

// At returns the pixel at a place. If the place is outside, it is the nearest pixel.
func (p Plane[T]) At(x, y int) T {
	return p.Pix[min(max(y, 0), p.Height-1)*p.Stride+min(max(x, 0), p.Width-1)]
}

// Bilinear interpolates between four pixels. x and y are in pixels from the centre of
// the first pixel. Outside the plane the pixels of its border repeat.
func (p Plane[T]) Bilinear(x, y float32) float32 {
	x0, y0 := int(x), int(y)
	if !(x >= 0 && y >= 0 && x0+1 < p.Width && y0+1 < p.Height) {
		return p.bilinearAtBorder(x, y)
	}
	i := y0*p.Stride + x0
	upper, lower := p.Pix[i:i+2], p.Pix[i+p.Stride:][:2]
	return between(upper[0], upper[1], lower[0], lower[1], x-float32(x0), y-float32(y0))
}

// bilinearAtBorder is Bilinear for places near the border and outside.
func (p Plane[T]) bilinearAtBorder(x, y float32) float32 {
	x = min(max(x, 0), float32(p.Width-1))
	y = min(max(y, 0), float32(p.Height-1))
	x0, y0 := int(x), int(y)
	return between(p.At(x0, y0), p.At(x0+1, y0), p.At(x0, y0+1), p.At(x0+1, y0+1), x-float32(x0), y-float32(y0))
}

// between interpolates between four values: a and b in the row above, c and d in the row
// below. fx is the share of the way from left to right, and fy that from above to below.
func between[T uint8 | float32](a, b, c, d T, fx, fy float32) float32 {
	top, bottom := float32(a)+(float32(b)-float32(a))*fx, float32(c)+(float32(d)-float32(c))*fx
	return top + (bottom-top)*fy
}

// CatmullRom interpolates between sixteen pixels by Catmull–Rom splines. They keep the
// grain that Bilinear blurs. The value can be outside the range of the pixels. Near the
// border it is that of Bilinear.
func (p Plane[T]) CatmullRom(x, y float32) float32 {
	x0, y0 := int(x), int(y)
	if !(x >= 1 && y >= 1) || x0+2 >= p.Width || y0+2 >= p.Height {
		return p.Bilinear(x, y)
	}
	wx, wy := catmullRom(x-float32(x0)), catmullRom(y-float32(y0))
	var sum float32
	for k, w := range wy {
		row := p.Pix[(y0-1+k)*p.Stride+x0-1:][:4]
		sum += w * (wx[0]*float32(row[0]) + wx[1]*float32(row[1]) + wx[2]*float32(row[2]) + wx[3]*float32(row[3]))
	}
	return sum
}

// catmullRom returns the weights of four values, for a place between the second and the
// third. f is the share of the way between these two.
func catmullRom(f float32) [4]float32 {
	return [4]float32{
		((-.5*f+1)*f - .5) * f,
		(1.5*f-2.5)*f*f + 1,
		((-1.5*f+2)*f + .5) * f,
		(.5*f - .5) * f * f,
	}
}
