package render

import (
	"encoding/binary"
	"image"

	"lipsync/internal/media/ffmpeg"
)

// plane is a plane of luma or chroma of a frame of 10 bits.
type plane struct {
	values []byte // two bytes each
	width  int
	hx, hy int // how often the plane is halved in width and in height
}

// planes returns the planes of luma and of both chromas.
func planes(v *ffmpeg.Video, frame []byte) [3]plane {
	hx, hy := v.Pixels.Halvings()
	luma, chroma := 2*v.Width*v.Height, 2*(v.Width>>hx)*(v.Height>>hy)
	return [3]plane{
		{frame[:luma], v.Width, 0, 0},
		{frame[luma : luma+chroma], v.Width >> hx, hx, hy},
		{frame[luma+chroma : luma+2*chroma], v.Width >> hx, hx, hy},
	}
}

// row returns the values of row y from one column to before another.
func (p plane) row(y, from, to int) []byte { return p.values[2*(y*p.width+from) : 2*(y*p.width+to)] }

// valueAt returns the value i of a row or plane.
func valueAt(values []byte, i int) uint16 { return binary.LittleEndian.Uint16(values[2*i:]) }

// see fills a picture with what engines see of a frame, whose pixel format is not YUV420P.
func (t *tones) see(picture *image.YCbCr, v *ffmpeg.Video, frame []byte) {
	if !v.Pixels.Deep() {
		copy(ffmpeg.Bytes(picture), frame)
		return
	}
	all := planes(v, frame)
	for i := range picture.Y {
		picture.Y[i] = t.down[min(valueAt(all[0].values, i), 1023)]
	}
	shrink(picture.Cb, v, all[1])
	shrink(picture.Cr, v, all[2])
}

// shrink fills a plane of chroma of 8 bits in 4:2:0 with the means of p.
func shrink(dst []uint8, v *ffmpeg.Video, p plane) {
	width := v.Width / 2
	for y := range v.Height / 2 {
		upper, lower := p.row(2*y>>p.hy, 0, p.width), p.row((2*y+1)>>p.hy, 0, p.width)
		out := dst[y*width : (y+1)*width]
		for x := range out {
			left, right := 2*x>>p.hx, (2*x+1)>>p.hx
			sum := uint32(valueAt(upper, left)) + uint32(valueAt(upper, right)) + uint32(valueAt(lower, left)) + uint32(valueAt(lower, right))
			out[x] = uint8(min((sum+8)/16, 255))
		}
	}
}

// blendDeep is like blend, for a frame of 10 bits.
func (b *blender) blendDeep(frame []byte, m Mouth, share uint8) {
	r := m.Mask.Rect.Intersect(m.Image.Rect).Intersect(image.Rect(0, 0, b.video.Width, b.video.Height))
	if r.Empty() {
		return
	}
	for i, p := range planes(b.video, frame) {
		for y := r.Min.Y >> p.hy; y < r.Max.Y>>p.hy; y++ {
			alpha := b.alphaOf(m.Mask, r, p, y)
			if share < 255 {
				fade(alpha, alpha, share)
			}
			row := p.row(y, r.Min.X>>p.hx, r.Max.X>>p.hx)
			if i == 0 {
				mouth := m.Image.Y[m.Image.YOffset(r.Min.X, y):]
				mixDeep(row, alpha, func(x int) uint16 { return b.tones.up[mouth[x]] })
				continue
			}
			mouth := [2][]uint8{m.Image.Cb, m.Image.Cr}[i-1][m.Image.COffset(r.Min.X, y<<p.hy):]
			mixDeep(row, alpha, func(x int) uint16 { return 4 * uint16(mouth[x<<p.hx>>1]) })
		}
	}
}

// alphaOf returns how opaque a mouth is in row y of a plane: the mean of the mask's values for each value of the plane.
func (b *blender) alphaOf(mask *image.Alpha, r image.Rectangle, p plane, y int) []uint8 {
	upper := mask.Pix[mask.PixOffset(r.Min.X, y<<p.hy):][:r.Dx()]
	lower := mask.Pix[mask.PixOffset(r.Min.X, y<<p.hy+p.hy):][:r.Dx()]
	b.alpha = append(b.alpha[:0], upper...)
	if p.hx == 0 {
		return b.alpha
	}
	halve(b.alpha[:r.Dx()/2], upper, lower)
	return b.alpha[:r.Dx()/2]
}

// mixDeep is like mix, for values of 10 bits.
func mixDeep(dst []byte, alpha []uint8, src func(x int) uint16) {
	for x, a := range alpha {
		if a > 0 {
			binary.LittleEndian.PutUint16(dst[2*x:], betweenDeep(valueAt(dst, x), src(x), a))
		}
	}
}

// betweenDeep is like between, for values of 10 bits.
func betweenDeep(a, b uint16, share uint8) uint16 {
	return uint16((uint32(a)*uint32(255-share) + uint32(b)*uint32(share) + 127) / 255)
}
