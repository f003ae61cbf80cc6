package neural

import (
	"errors"
	"fmt"
	"image"
	"slices"

	"lipsync/internal/render/engine"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// paint returns the network's face as a mouth for the frame.
//
// The network's pictures may be softer than the frame. So the frame itself is kept where the network painted the same: the result is
// agree·frame + enlarged (made − agree·seen).
func (b *buffers) paint(frame *image.YCbCr, onto geom.Similarity) ([]engine.Mouth, error) {
	if err := b.unpack(); err != nil {
		b.mouth[0].Release()
		return nil, err
	}
	b.match()
	b.compare()
	for k := range b.made {
		for i, a := range b.agree {
			b.made[k][i] -= a * b.seen[k][i]
		}
		b.soften(b.made[k], onto)
	}
	area := b.mask.area(onto).Intersect(pixels.Even(frame.Rect))
	if area.Empty() {
		b.mouth[0].Release()
		return nil, nil
	}
	b.resize(area)
	b.fillLuma(frame, onto.Inverse())
	b.fillChroma(frame, onto.Inverse())
	return b.mouth[:], nil
}

// ErrNoNumber is the error of a network that made infinity or NaN.
var ErrNoNumber = errors.New("the network made a value that is not a number")

// unpack sets made to the network's output. The match of colours would spread a value that is no number over the whole mouth.
func (b *buffers) unpack() error {
	for i, v := range b.output {
		if v-v != 0 { // infinite, or not a number
			return fmt.Errorf("%s: %w", b.Name, ErrNoNumber)
		}
		b.output[i] = min(max(v, 0), 1)
	}
	red, green, blue := b.colours(b.output)
	for i := range red {
		b.made[0][i], b.made[1][i], b.made[2][i] = pixels.FromRGB(red[i], green[i], blue[i])
	}
	return nil
}

const (
	priorVariance = 16  // levels²: if the variance along the ring is the same, the gain is halfway between 1 and that of least squares
	middleLevel   = 128 // subtracted from levels, for precision
	leastGain     = .8
	mostGain      = 1.25
	alike         = 7  // pixels agree by a half if they differ by so many levels, in all channels together
	compareParts  = 48 // pixels are compared in a radius of the size of the view divided by this
)

// match adapts the network's colours to those of the frame, by a gain and a shift for each channel: least squares along the ring
// where the mask ends. If the ring has only one colour, the gain is unknown and stays 1.
func (b *buffers) match() {
	for k := range b.made {
		var weight, sumMade, sumSeen, made2, both float32
		for i, w := range b.mask.ring {
			m, s := b.made[k][i]-middleLevel, b.seen[k][i]-middleLevel
			weight += w
			sumMade += w * m
			sumSeen += w * s
			made2 += w * m * m
			both += w * m * s
		}
		meanMade, meanSeen := sumMade/weight, sumSeen/weight
		variance, covariance := made2/weight-meanMade*meanMade, both/weight-meanMade*meanSeen
		gain := min(max((covariance+priorVariance)/(variance+priorVariance), leastGain), mostGain)
		for i, m := range b.made[k] {
			b.made[k][i] = middleLevel + meanSeen + gain*(m-middleLevel-meanMade)
		}
	}
}

// compare sets agree. It is 1 where the network painted the same as the frame shows.
func (b *buffers) compare() {
	for i := range b.agree {
		var d float32
		for k := range b.made {
			d += abs(b.made[k][i] - b.seen[k][i])
		}
		b.agree[i] = d
	}
	radius := max(b.View.Size/compareParts, 1)
	pixels.BoxBlur(b.square(b.agree), b.scratch, radius, radius)
	for i, d := range b.agree {
		d = d / alike
		b.agree[i] = 1 / (1 + d*d)
	}
}

// soften filters a channel of the view if its pixels are smaller than those of the frame.
func (b *buffers) soften(channel []float32, onto geom.Similarity) {
	width, height := b.View.covered(onto)
	pixels.BoxBlur(b.square(channel), b.scratch, int(.5/width), int(.5/height))
}

// resize gives picture and alpha the size of the area. They keep pixels of earlier frames.
func (b *buffers) resize(area image.Rectangle) {
	w, h := area.Dx(), area.Dy()
	b.alpha = image.Alpha{Pix: grow(b.alpha.Pix, w*h), Stride: w, Rect: area}
	b.picture = image.YCbCr{
		Y: grow(b.picture.Y, w*h), Cb: grow(b.picture.Cb, w*h/4), Cr: grow(b.picture.Cr, w*h/4),
		YStride: w, CStride: w / 2, SubsampleRatio: image.YCbCrSubsampleRatio420, Rect: area,
	}
}

func grow(pix []uint8, n int) []uint8 { return slices.Grow(pix[:0], n)[:n] }

// square returns a channel of the view as a plane.
func (b *buffers) square(channel []float32) pixels.Plane[float32] {
	n := b.View.Size
	return pixels.Plane[float32]{Pix: channel, Width: n, Height: n, Stride: n}
}

// fillLuma fills the mask, and the luma where the mask is not 0.
func (b *buffers) fillLuma(frame *image.YCbCr, back geom.Similarity) {
	r := b.picture.Rect
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row, under := b.picture.Y[b.picture.YOffset(r.Min.X, y):], frame.Y[frame.YOffset(r.Min.X, y):]
		alpha := b.alpha.Pix[b.alpha.PixOffset(r.Min.X, y):]
		for i := range r.Dx() {
			s := b.View.find(back, float32(r.Min.X+i), float32(y))
			alpha[i] = uint8(255*b.square(b.mask.opacity).Bilinear(s.X, s.Y) + .5)
			if alpha[i] > 0 {
				row[i] = b.mix(0, under[i], s)
			}
		}
	}
}

// fillChroma fills the chroma where the mask is not 0.
func (b *buffers) fillChroma(frame *image.YCbCr, back geom.Similarity) {
	r := b.picture.Rect
	for y := r.Min.Y; y < r.Max.Y; y += 2 {
		at, from := b.picture.COffset(r.Min.X, y), frame.COffset(r.Min.X, y)
		alpha := b.alpha.Pix[b.alpha.PixOffset(r.Min.X, y):]
		for i := range r.Dx() / 2 {
			if alpha[2*i]|alpha[2*i+1]|alpha[b.alpha.Stride+2*i]|alpha[b.alpha.Stride+2*i+1] == 0 {
				continue
			}
			s := b.View.find(back, float32(r.Min.X+2*i)+.5, float32(y)+.5)
			b.picture.Cb[at+i] = b.mix(1, frame.Cb[from+i], s)
			b.picture.Cr[at+i] = b.mix(2, frame.Cr[from+i], s)
		}
	}
}

// mix returns one channel of a pixel at a place of the view. under is the frame's value.
func (b *buffers) mix(channel int, under uint8, s geom.Point) uint8 {
	v := b.square(b.made[channel]).CatmullRom(s.X, s.Y) + b.square(b.agree).Bilinear(s.X, s.Y)*float32(under)
	return uint8(min(max(v+.5, 0), 255))
}

func abs(x float32) float32 { return max(x, -x) }
