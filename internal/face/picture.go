package face

import "image"

// Picture is a copy of a part of a frame, with a soft copy of its luma for
// registration.
type Picture struct {
	*image.YCbCr // 4:2:0, Rect in the frame's coordinates, its edges even
	soft         plane
	factor       float32 // pixels of the frame to one of soft, each way
}

// softScale is about how many soft pixels there are between the pupils.
const softScale = 64

// Cut copies the part of the frame inside the rectangle, in which the pupils are
// eyes pixels apart. It returns nil if next to nothing of it is in the frame.
func Cut(frame *image.YCbCr, area image.Rectangle, eyes float32) *Picture {
	area = Even(area).Intersect(Even(frame.Rect))
	factor := max(1, int(eyes/softScale+.5))
	if least := max(16, factor); area.Dx() < least || area.Dy() < least {
		return nil
	}
	p := &Picture{YCbCr: Copy(frame, area), factor: float32(factor)}
	p.soft = blur(shrink(p.YCbCr, area, factor))
	return p
}

// Copy returns the pixels of an area of a 4:2:0 frame; its edges are even.
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

// Soft returns the soft luma at a place in the frame.
func (p *Picture) Soft(q Point) float32 {
	x := (q.X-float32(p.Rect.Min.X)+.5)/p.factor - .5
	y := (q.Y-float32(p.Rect.Min.Y)+.5)/p.factor - .5
	return Bilinear(p.soft.pix, p.soft.width, p.soft.height, p.soft.stride, x, y)
}

// Bilinear returns the value of a plane of bytes between its pixels; beyond the
// border it goes on with the border's.
func Bilinear(pix []uint8, width, height, stride int, x, y float32) float32 {
	x = min(max(x, 0), float32(width-1))
	y = min(max(y, 0), float32(height-1))
	x0, y0 := int(x), int(y)
	fx, fy := x-float32(x0), y-float32(y0)
	right, below := 1, stride
	if x0+1 >= width {
		right = 0
	}
	if y0+1 >= height {
		below = 0
	}
	i := y0*stride + x0
	a, b := float32(pix[i]), float32(pix[i+right])
	c, d := float32(pix[i+below]), float32(pix[i+below+right])
	top := a + (b-a)*fx
	return top + (c+(d-c)*fx-top)*fy
}

// blur returns the plane filtered by 1 2 1 each way.
func blur(p plane) plane {
	out := plane{pix: make([]uint8, p.width*p.height), width: p.width, height: p.height, stride: p.width}
	for y := range p.height {
		above, here, below := p.row(y-1), p.row(y), p.row(y+1)
		for x := range p.width {
			l, r := max(x-1, 0), min(x+1, p.width-1)
			sum := int(above[l]) + 2*int(above[x]) + int(above[r]) +
				2*int(here[l]) + 4*int(here[x]) + 2*int(here[r]) +
				int(below[l]) + 2*int(below[x]) + int(below[r])
			out.pix[y*p.width+x] = uint8((sum + 8) / 16)
		}
	}
	return out
}

// row returns a row of pixels, the nearest one if y is outside.
func (p plane) row(y int) []uint8 {
	return p.pix[min(max(y, 0), p.height-1)*p.stride:][:p.width]
}
