package render

import (
	"encoding/binary"
	"image"
	"slices"

	"lipsync/internal/media/ffmpeg"
)

// blender blends mouths into the frames of a video, one after the other.
type blender struct {
	video   *ffmpeg.Video
	picture image.YCbCr // what engines see of the frame
	tones   *tones      // of frames of 10 bits
	alpha   []uint8     // of one row
}

func newBlender(v *ffmpeg.Video, t *tones) *blender {
	b := &blender{video: v, tones: t}
	if v.Pixels.Deep() {
		b.picture = *v.NewFrame()
	}
	return b
}

// see sets the picture to what engines see of a frame.
func (b *blender) see(frame []byte) {
	if b.video.Pixels.Deep() {
		b.tones.see(&b.picture, b.video, frame)
	} else {
		b.picture = b.video.Picture(frame)
	}
}

// blend blends a mouth into a frame, as far as it is within the frame. Where the mask is 0, not a bit changes. The
// mask is multiplied by share ÷ 255.
func (b *blender) blend(frame *image.YCbCr, m Mouth, share uint8) {
	r := m.Mask.Rect.Intersect(m.Image.Rect).Intersect(frame.Rect)
	if r.Empty() {
		return
	}
	width := r.Dx()
	b.alpha = slices.Grow(b.alpha[:0], width)[:width]
	for y := r.Min.Y; y < r.Max.Y; y++ {
		d, s, a := frame.YOffset(r.Min.X, y), m.Image.YOffset(r.Min.X, y), m.Mask.PixOffset(r.Min.X, y)
		alpha := m.Mask.Pix[a : a+width]
		if share < 255 {
			alpha = b.alpha
			fade(alpha, m.Mask.Pix[a:a+width], share)
		}
		mix(frame.Y[d:d+width], m.Image.Y[s:s+width], alpha)
	}
	alpha := b.alpha[:width/2]
	for y := r.Min.Y; y < r.Max.Y; y += 2 {
		a := m.Mask.PixOffset(r.Min.X, y)
		halve(alpha, m.Mask.Pix[a:a+width], m.Mask.Pix[a+m.Mask.Stride:][:width])
		if share < 255 {
			fade(alpha, alpha, share)
		}
		d, s := frame.COffset(r.Min.X, y), m.Image.COffset(r.Min.X, y)
		mix(frame.Cb[d:d+width/2], m.Image.Cb[s:], alpha)
		mix(frame.Cr[d:d+width/2], m.Image.Cr[s:], alpha)
	}
}

// mix moves each value of dst towards that of src by alpha ÷ 255 of their difference.
func mix(dst, src, alpha []uint8) {
	src, alpha = src[:len(dst)], alpha[:len(dst)]
	for i, a := range alpha {
		switch a {
		case 0:
			continue
		case 255:
			dst[i] = src[i]
			continue
		}
		dst[i] = between(dst[i], src[i], a)
	}
}

// between returns a + (b − a) · share ÷ 255, rounded.
func between(a, b, share uint8) uint8 {
	// v ÷ 255, rounded: exact for all v below 1 << 16.
	v := uint32(a)*uint32(255-share) + uint32(b)*uint32(share) + 128
	return uint8((v + v>>8) >> 8)
}

// fade fills dst with alpha · share ÷ 255.
func fade(dst, alpha []uint8, share uint8) {
	for i, a := range alpha {
		dst[i] = between(0, a, share)
	}
}

// mixFrames moves each value of a frame towards that of next by share ÷ 255 of their difference.
func mixFrames(frame, next []byte, share uint8, format ffmpeg.PixelFormat) {
	if !format.Deep() {
		for i := range frame {
			frame[i] = between(frame[i], next[i], share)
		}
		return
	}
	for i := range len(frame) / 2 {
		binary.LittleEndian.PutUint16(frame[2*i:], betweenDeep(valueAt(frame, i), valueAt(next, i), share))
	}
}

// halve fills dst with the alpha of chroma: the mean of each 2 × 2 values in two rows.
func halve(dst, upper, lower []uint8) {
	for i := range dst {
		sum := uint32(upper[2*i]) + uint32(upper[2*i+1]) + uint32(lower[2*i]) + uint32(lower[2*i+1])
		dst[i] = uint8((sum + 2) / 4)
	}
}
