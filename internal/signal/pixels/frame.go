package pixels

import (
	"image"

	"lipsync/internal/signal/geom"
)

// LumaAt returns the luma at a place in the frame, by linear interpolation.
func LumaAt(f *image.YCbCr, q geom.Point) float32 {
	return Luma(f).Bilinear(q.X-float32(f.Rect.Min.X), q.Y-float32(f.Rect.Min.Y))
}

// ChromaAt returns Cb and Cr at a place in the frame, by linear interpolation.
func ChromaAt(f *image.YCbCr, q geom.Point) (cb, cr float32) {
	x, y := chromaPlace(f, q)
	x0, y0 := int(x), int(y)
	if !(x >= 0 && y >= 0 && x0+1 < (f.Rect.Dx()+1)/2 && y0+1 < (f.Rect.Dy()+1)/2) {
		b, r := Chroma(f)
		return b.bilinearAtBorder(x, y), r.bilinearAtBorder(x, y)
	}
	upper, lower, fx, fy := y0*f.CStride+x0, (y0+1)*f.CStride+x0, x-float32(x0), y-float32(y0)
	b, under := f.Cb[upper:upper+2], f.Cb[lower:lower+2]
	cb = between(b[0], b[1], under[0], under[1], fx, fy)
	r, under := f.Cr[upper:upper+2], f.Cr[lower:lower+2]
	return cb, between(r[0], r[1], under[0], under[1], fx, fy)
}

// CrAt returns Cr, the red difference, at a place in the frame.
func CrAt(f *image.YCbCr, q geom.Point) float32 {
	_, cr := Chroma(f)
	return cr.Bilinear(chromaPlace(f, q))
}

// chromaPlace returns a place of the frame in pixels of its chroma. A chroma pixel is
// in the middle of four luma pixels.
func chromaPlace(f *image.YCbCr, q geom.Point) (x, y float32) {
	return (q.X-float32(f.Rect.Min.X))/2 - .25, (q.Y-float32(f.Rect.Min.Y))/2 - .25
}

// Copy copies the pixels of an area of a 4:2:0 frame. The area has even edges.
func Copy(frame *image.YCbCr, area image.Rectangle) *image.YCbCr {
	out := image.NewYCbCr(area, image.YCbCrSubsampleRatio420)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		copy(out.Y[out.YOffset(area.Min.X, y):][:area.Dx()], frame.Y[frame.YOffset(area.Min.X, y):])
		if y%2 == 0 {
			from, to := frame.COffset(area.Min.X, y), out.COffset(area.Min.X, y)
			copy(out.Cb[to:][:area.Dx()/2], frame.Cb[from:])
			copy(out.Cr[to:][:area.Dx()/2], frame.Cr[from:])
		}
	}
	return out
}

// Even returns the rectangle with its edges moved outwards to even coordinates.
func Even(r image.Rectangle) image.Rectangle {
	return image.Rect(r.Min.X&^1, r.Min.Y&^1, (r.Max.X+1)&^1, (r.Max.Y+1)&^1)
}
