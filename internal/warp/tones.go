package warp

import (
	"image"

	"lipsync/internal/geom"
	"lipsync/internal/pixels"
)

// tones is how much brighter and redder than its patch a face is: the slow part
// of their ratio (luma) and difference (chroma) along the patch's soft edge,
// carried on inwards.
type tones struct {
	left, top     float32
	width, height int
	cells         [][3]float32
}

const (
	toneStep  = .04  // canonical
	toneReach = 3    // cells to each side of each of the filters: together they have a deviation of 3.5
	gainMost  = 1.25 // brighter or darker
	toneMost  = 30   // levels of chroma
	neutral   = 128  // value of cells without a comparison, the same for frame and patch
	alien     = 20   // levels of luma: what differs more is hair or background on one side
	alienTone = 10   // levels of chroma: what differs more is a lip on one side
)

// match compares the frame and the patch where both are seen.
func (b *brush) match() *tones {
	p := b.patch
	t := &tones{left: p.middle - p.side, top: p.top}
	t.width, t.height = int(2*p.side/toneStep)+2, int((p.bottom-p.top)/toneStep)+2
	n := t.width * t.height
	// Of each cell: its weight, then luma, Cb and Cr of the frame and the patch.
	var sums [7][]float32
	for k := range sums {
		sums[k] = make([]float32, n)
	}
	for i := range n {
		c := geom.Point{X: t.left + toneStep*float32(i%t.width), Y: t.top + toneStep*float32(i/t.width)}
		w, v := float32(1e-4), [6]float32{neutral, neutral, neutral, neutral, neutral, neutral}
		if m := p.mask(c); m > .02 && m < .6 {
			v = b.compare(c)
			w = 1 / (1 + sq((v[0]-v[3])/alien) + sq((v[1]-v[4])/alienTone) + sq((v[2]-v[5])/alienTone))
		}
		sums[0][i] = w
		for k, v := range v {
			sums[1+k][i] = w * v
		}
	}
	scratch := make([]float32, max(t.width, t.height))
	for k := range sums {
		p := pixels.Plane[float32]{Pix: sums[k], Width: t.width, Height: t.height, Stride: t.width}
		for range 3 { // which is as good as a Gaussian
			pixels.BoxBlur(p, scratch, toneReach, toneReach)
		}
	}
	t.cells = make([][3]float32, n)
	for i := range t.cells {
		t.cells[i][0] = min(max(sums[1][i]/max(sums[4][i], 1e-4), 1/gainMost), gainMost)
		for k := 1; k < 3; k++ {
			t.cells[i][k] = min(max((sums[1+k][i]-sums[4+k][i])/sums[0][i], -toneMost), toneMost)
		}
	}
	return t
}

// compare returns the colours of the frame and of the patch around a canonical
// place.
func (b *brush) compare(c geom.Point) (v [6]float32) {
	const quarter = toneStep / 4
	for i := range 4 {
		q := geom.Point{X: c.X + quarter*float32(2*(i%2)-1), Y: c.Y + quarter*float32(2*(i/2)-1)}
		f := b.field.at(q)
		sink := b.patch.aside(q.X) * b.patch.down(q.Y)
		there, here := b.to.Apply(geom.Point{X: q.X + f.dx, Y: q.Y + f.down()}), b.onto.Apply(geom.Point{X: q.X, Y: q.Y - sink})
		for k, s := range [2]struct {
			pixels *image.YCbCr
			at     geom.Point
		}{{b.frame, here}, {b.pixels, there}} {
			cb, cr := pixels.ChromaAt(s.pixels, s.at)
			v[3*k] += pixels.LumaAt(s.pixels, s.at) / 4
			v[3*k+1] += cb / 4
			v[3*k+2] += cr / 4
		}
	}
	return v
}

// at returns the gain of luma and the shifts of chroma at a canonical place.
func (t *tones) at(c geom.Point) (out [3]float32) {
	x := min(max((c.X-t.left)/toneStep, 0), float32(t.width-1)-.001)
	y := min(max((c.Y-t.top)/toneStep, 0), float32(t.height-1)-.001)
	x0, y0 := int(x), int(y)
	fx, fy := x-float32(x0), y-float32(y0)
	a := t.cells[y0*t.width+x0:]
	b := t.cells[(y0+1)*t.width+x0:]
	for k := range out {
		top := a[0][k] + (a[1][k]-a[0][k])*fx
		low := b[0][k] + (b[1][k]-b[0][k])*fx
		out[k] = top + (low-top)*fy
	}
	return out
}
