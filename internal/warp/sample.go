package warp

import (
	"image"

	"lipsync/internal/face"
)

// luma returns the luma at a place in the frame, linear between pixels.
func luma(p *image.YCbCr, q face.Point) float32 {
	return face.Bilinear(p.Y, p.Rect.Dx(), p.Rect.Dy(), p.YStride, q.X-float32(p.Rect.Min.X), q.Y-float32(p.Rect.Min.Y))
}

// chroma returns a chroma plane's value at a place in the frame.
func chroma(p *image.YCbCr, plane []uint8, q face.Point) float32 {
	x := (q.X-float32(p.Rect.Min.X)+.5)/2 - .5
	y := (q.Y-float32(p.Rect.Min.Y)+.5)/2 - .5
	return face.Bilinear(plane, p.Rect.Dx()/2, p.Rect.Dy()/2, p.CStride, x, y)
}

// sharpLuma returns the luma at a place in the frame by Catmull–Rom splines,
// which keep the grain of skin that linear interpolation blurs.
func sharpLuma(p *image.YCbCr, q face.Point) float32 {
	x, y := q.X-float32(p.Rect.Min.X), q.Y-float32(p.Rect.Min.Y)
	x0, y0 := int(x), int(y)
	if x < 1 || y < 1 || x0+2 >= p.Rect.Dx() || y0+2 >= p.Rect.Dy() {
		return luma(p, q)
	}
	wx, wy := catmullRom(x-float32(x0)), catmullRom(y-float32(y0))
	var sum float32
	for k, w := range wy {
		row := p.Y[(y0-1+k)*p.YStride+x0-1:]
		sum += w * (wx[0]*float32(row[0]) + wx[1]*float32(row[1]) + wx[2]*float32(row[2]) + wx[3]*float32(row[3]))
	}
	return min(max(sum, 0), 255)
}

// catmullRom returns the weights of the four samples around f, 0 to 1 of the way
// between the second and the third.
func catmullRom(f float32) [4]float32 {
	f2, f3 := f*f, f*f*f
	return [4]float32{
		.5 * (-f3 + 2*f2 - f),
		.5 * (3*f3 - 5*f2 + 2),
		.5 * (-3*f3 + 4*f2 + f),
		.5 * (f3 - f2),
	}
}
