// Package blend works on the pixels of frames, of 8 or 10 bits: it mixes two frames, shows engines what they can see, and blends mouths into frames.
package blend

import (
	"encoding/binary"
	"image"
	"math"
	"slices"

	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render/engine"
)

// Blender blends mouths into the frames of a video, one after the other.
type Blender struct {
	video   *medium.Video
	frame   []byte      // the one that was seen last
	picture image.YCbCr // what engines see of the frame
	tones   *Tones      // of frames of 10 bits
	alpha   []uint8     // of one row
}

// New returns a blender of frames of a video.
func New(v *medium.Video) *Blender {
	b := &Blender{video: v, tones: NewTones(v)}
	if v.Pixels.Deep() {
		b.picture = *v.NewFrame()
	}
	return b
}

// See returns what engines see of a frame, until the next call.
func (b *Blender) See(frame []byte) *image.YCbCr {
	b.frame = frame
	if b.video.Pixels.Deep() {
		b.tones.See(&b.picture, b.video, frame)
	} else {
		b.picture = b.video.Picture(frame)
	}
	return &b.picture
}

// Blend blends a mouth into the frame that was seen last. Its mask is multiplied by share ÷ 255.
func (b *Blender) Blend(m engine.Mouth, share uint8) {
	if b.video.Pixels.Deep() {
		b.blendDeep(b.frame, m, share)
	} else {
		b.blend(&b.picture, m, share)
	}
}

// blend blends a mouth into a frame, as far as it is within the frame. Where the mask is 0, not a bit changes. The
// mask is multiplied by share ÷ 255.
func (b *Blender) blend(frame *image.YCbCr, m engine.Mouth, share uint8) {
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

// MixFrames moves each value of a frame towards that of next by share ÷ 255 of their difference.
func MixFrames(frame, next []byte, share uint8, format medium.PixelFormat) {
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

// plane is a plane of luma or chroma of a frame of 10 bits.
type plane struct {
	values []byte // two bytes each
	width  int
	hx, hy int // how often the plane is halved in width and in height
}

// planes returns the planes of luma and of both chromas.
func planes(v *medium.Video, frame []byte) [3]plane {
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

// See fills a picture with what engines see of a frame, whose pixel format is not YUV420P.
func (t *Tones) See(picture *image.YCbCr, v *medium.Video, frame []byte) {
	if !v.Pixels.Deep() {
		copy(medium.Bytes(picture), frame)
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
func shrink(dst []uint8, v *medium.Video, p plane) {
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
func (b *Blender) blendDeep(frame []byte, m engine.Mouth, share uint8) {
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
func (b *Blender) alphaOf(mask *image.Alpha, r image.Rectangle, p plane, y int) []uint8 {
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

// Tones converts luma between the 10 bits of a frame and the 8 bits that engines see, both of limited range. Engines see a high dynamic
// range as the video would look after its conversion to a standard one, except that its colours are paler, since chroma stays as it is.
type Tones struct {
	down [1024]uint8
	up   [256]uint16 // the value that down maps nearest to the index
}

// The black and the white of luma of limited range, in 10 bits.
const black, white = 64, 940

// NewTones returns the tones of a video, nil if its frames don't have 10 bits.
func NewTones(v *medium.Video) *Tones {
	if !v.Pixels.Deep() {
		return nil
	}
	return tonesOf(v.Transfer())
}

func tonesOf(transfer medium.Transfer) *Tones {
	curve, from, to := func(value float64) float64 { return value / 4 }, 0, 1023
	if transfer != medium.SDR {
		curve, from, to = func(value float64) float64 {
			signal := (min(max(value, black), white) - black) / (white - black)
			return 16 + 219*darken(light(transfer, signal))
		}, black, white
	}
	t := &Tones{}
	var seen [1024]float64
	for i := range t.down {
		seen[i] = curve(float64(i))
		t.down[i] = uint8(min(math.Round(seen[i]), 255))
	}
	for i := range t.up {
		best := math.Inf(1)
		for value := from; value <= to; value++ {
			if d := math.Abs(seen[value] - float64(i)); d < best {
				t.up[i], best = uint16(value), d
			}
		}
	}
	return t
}

// light returns the light of a display in units of 100 cd/m², for a signal from 0 to 1 by Rec. ITU-R BT.2100. A display of HLG has
// 1000 cd/m².
func light(transfer medium.Transfer, signal float64) float64 {
	if transfer == medium.PQ {
		const m1, m2, c1, c2, c3 = 2610. / 16384, 2523. / 4096 * 128, 3424. / 4096, 2413. / 4096 * 32, 2392. / 4096 * 32
		root := math.Pow(signal, 1/m2)
		return 100 * math.Pow(max(root-c1, 0)/(c2-c3*root), 1/m1)
	}
	const a, b, gamma = .17883277, .28466892, 1.2
	scene := signal * signal / 3
	if signal > .5 {
		scene = (math.Exp((signal-(.5-a*math.Log(4*a)))/a) + b) / 12
	}
	return 10 * math.Pow(scene, gamma)
}

// darken returns the signal of a standard dynamic range, from 0 to 1, for light in units of 100 cd/m². It has the curve and the white of
// ffmpeg's filter tonemap=hable, with which the decoder converts videos for outputs that can't have a high dynamic range.
func darken(light float64) float64 {
	hable := func(x float64) float64 {
		const a, b, c, d, e, f = .15, .5, .1, .2, .02, .3
		return (x*(x*a+b*c)+d*e)/(x*(x*a+b)+d*f) - e/f
	}
	const brightest = 10
	return math.Pow(min(max(hable(light)/hable(brightest), 0), 1), 1/2.4) // Rec. ITU-R BT.1886
}
