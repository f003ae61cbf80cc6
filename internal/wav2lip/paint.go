package wav2lip

import (
	"image"
	"math"

	"lipsync/internal/face"
	"lipsync/internal/render"
)

// paint puts the network's face back into the frame.
//
// A crop of 96 pixels is softer than most frames. So where the network painted
// what is there already, it is the frame itself that is seen: what is put back
// is made − agree·seen, enlarged, on top of agree·frame.
func (b *brush) paint(frame *image.YCbCr, onto face.Similarity) []render.Mouth {
	b.unpack()
	b.match()
	b.compare()
	g := newGrid(b.size, onto)
	for k := range b.made {
		for i, a := range b.agree {
			b.made[k][i] -= a * b.seen[k][i]
		}
		b.soften(b.made[k], g)
	}
	area := maskArea(onto).Intersect(face.Even(frame.Rect))
	if area.Empty() {
		b.mouth[0].Release()
		return nil
	}
	b.resize(area)
	b.fillLuma(frame, onto.Inverse())
	b.fillChroma(frame, onto.Inverse())
	return b.mouth[:]
}

// unpack reads the network's BGR.
func (b *brush) unpack() {
	n := b.size * b.size
	blue, green, red := b.output[:n], b.output[n:2*n], b.output[2*n:]
	for i := range n {
		b.made[0][i], b.made[1][i], b.made[2][i] = fromBGR(blue[i], green[i], red[i])
	}
}

// match brings the network's colours to the frame's: a gain and a shift for
// each channel, by least squares along the ring where the mask ends. A ring of
// one colour says nothing of the gain, which then stays 1.
func (b *brush) match() {
	const sure = 16 // levels² of variance against which the gain is held
	for k := range b.made {
		var weight, sumMade, sumSeen, made2, both float32
		for i, w := range b.ring {
			m, s := b.made[k][i]-grey, b.seen[k][i]-grey
			weight += w
			sumMade += w * m
			sumSeen += w * s
			made2 += w * m * m
			both += w * m * s
		}
		meanMade, meanSeen := sumMade/weight, sumSeen/weight
		variance, covariance := made2/weight-meanMade*meanMade, both/weight-meanMade*meanSeen
		gain := min(max((covariance+sure)/(variance+sure), .8), 1.25)
		for i, m := range b.made[k] {
			b.made[k][i] = grey + meanSeen + gain*(m-grey-meanMade)
		}
	}
}

// compare finds where the network painted what is there already.
func (b *brush) compare() {
	const alike = 7 // levels of all channels together
	for i := range b.agree {
		var d float32
		for k := range b.made {
			d += abs(b.made[k][i] - b.seen[k][i])
		}
		b.agree[i] = d
	}
	radius := max(b.size/48, 1)
	blur(b.agree, b.scratch, b.size, radius, radius)
	for i, d := range b.agree {
		d = d / alike
		b.agree[i] = 1 / (1 + d*d)
	}
}

// soften filters a channel of the crop for a frame that shows it smaller.
func (b *brush) soften(channel []float32, g grid) {
	blur(channel, b.scratch, b.size, int(.5/g.width), int(.5/g.height))
}

// blur replaces each value of a square by the mean of those around it.
func blur(x, scratch []float32, size, across, along int) {
	if across > 0 {
		for y := range size {
			mean(x[y*size:], scratch, size, 1, across)
		}
	}
	if along > 0 {
		for c := range size {
			mean(x[c:], scratch, size, size, along)
		}
	}
}

// mean replaces each of n values, a step apart, by the mean of those up to
// radius away.
func mean(x, scratch []float32, n, step, radius int) {
	for i := range n {
		var sum float32
		from, to := max(i-radius, 0), min(i+radius, n-1)
		for k := from; k <= to; k++ {
			sum += x[k*step]
		}
		scratch[i] = sum / float32(to-from+1)
	}
	for i := range n {
		x[i*step] = scratch[i]
	}
}

// resize makes picture and alpha as large as the area; what they hold is old.
func (b *brush) resize(area image.Rectangle) {
	w, h := area.Dx(), area.Dy()
	b.alpha = image.Alpha{Pix: grow(b.alpha.Pix, w*h), Stride: w, Rect: area}
	b.picture = image.YCbCr{
		Y: grow(b.picture.Y, w*h), Cb: grow(b.picture.Cb, w*h/4), Cr: grow(b.picture.Cr, w*h/4),
		YStride: w, CStride: w / 2, SubsampleRatio: image.YCbCrSubsampleRatio420, Rect: area,
	}
}

func grow(pix []uint8, n int) []uint8 {
	if cap(pix) < n {
		return make([]uint8, n)
	}
	return pix[:n]
}

// spot is a place in the crop, in pixels from the centre of the first.
type spot struct{ x, y float32 }

func (b *brush) spot(back face.Similarity, x, y float32) spot {
	c := back.Apply(face.Point{X: x, Y: y})
	n := float32(b.size)
	return spot{
		(c.X-cropLeft)/(cropRight-cropLeft)*n - .5,
		(c.Y-cropTop)/(cropBottom-cropTop)*n - .5,
	}
}

// fillLuma fills the mask, and the luma where it is seen.
func (b *brush) fillLuma(frame *image.YCbCr, back face.Similarity) {
	r := b.picture.Rect
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row, under := b.picture.Y[b.picture.YOffset(r.Min.X, y):], frame.Y[frame.YOffset(r.Min.X, y):]
		alpha := b.alpha.Pix[b.alpha.PixOffset(r.Min.X, y):]
		for i := range r.Dx() {
			s := b.spot(back, float32(r.Min.X+i), float32(y))
			alpha[i] = uint8(255*linear(b.mask, b.size, s) + .5)
			if alpha[i] > 0 {
				row[i] = b.mix(0, under[i], s)
			}
		}
	}
}

// fillChroma fills the chroma where the mask is seen.
func (b *brush) fillChroma(frame *image.YCbCr, back face.Similarity) {
	r := b.picture.Rect
	for y := r.Min.Y; y < r.Max.Y; y += 2 {
		at, from := b.picture.COffset(r.Min.X, y), frame.COffset(r.Min.X, y)
		alpha := b.alpha.Pix[b.alpha.PixOffset(r.Min.X, y):]
		for i := range r.Dx() / 2 {
			if alpha[2*i]|alpha[2*i+1]|alpha[b.alpha.Stride+2*i]|alpha[b.alpha.Stride+2*i+1] == 0 {
				continue
			}
			s := b.spot(back, float32(r.Min.X+2*i)+.5, float32(y)+.5)
			b.picture.Cb[at+i] = b.mix(1, frame.Cb[from+i], s)
			b.picture.Cr[at+i] = b.mix(2, frame.Cr[from+i], s)
		}
	}
}

// mix returns one channel of a pixel of the frame that lies at a place of the
// crop.
func (b *brush) mix(channel int, under uint8, s spot) uint8 {
	v := cubic(b.made[channel], b.size, s) + linear(b.agree, b.size, s)*float32(under)
	return uint8(min(max(v+.5, 0), 255))
}

// linear returns the value of a square between its pixels.
func linear(x []float32, size int, s spot) float32 {
	most := float32(size - 1)
	u, v := min(max(s.x, 0), most), min(max(s.y, 0), most)
	x0, y0 := min(int(u), size-2), min(int(v), size-2)
	fx, fy := u-float32(x0), v-float32(y0)
	i := y0*size + x0
	top := x[i] + (x[i+1]-x[i])*fx
	bottom := x[i+size] + (x[i+size+1]-x[i+size])*fx
	return top + (bottom-top)*fy
}

// cubic is sharper than linear: by Catmull–Rom splines.
func cubic(x []float32, size int, s spot) float32 {
	x0, y0 := int(s.x), int(s.y)
	if s.x < 1 || s.y < 1 || x0+2 >= size || y0+2 >= size {
		return linear(x, size, s)
	}
	wx, wy := catmullRom(s.x-float32(x0)), catmullRom(s.y-float32(y0))
	var sum float32
	for k, w := range wy {
		row := x[(y0-1+k)*size+x0-1:][:4]
		sum += w * (wx[0]*row[0] + wx[1]*row[1] + wx[2]*row[2] + wx[3]*row[3])
	}
	return sum
}

// catmullRom returns the weights of four values for f between the middle two.
func catmullRom(f float32) [4]float32 {
	return [4]float32{
		((-.5*f+1)*f - .5) * f,
		(1.5*f-2.5)*f*f + 1,
		((-1.5*f+2)*f + .5) * f,
		(.5*f - .5) * f * f,
	}
}

func abs(x float32) float32 { return max(x, -x) }

func power(x, e float32) float32 { return float32(math.Pow(float64(x), float64(e))) }
