package warp

import (
	"lipsync/internal/face"
	"lipsync/internal/smooth"
)

// tones is how much brighter and redder than its patch a face is: the slow part
// of their difference along the patch's soft edge, carried on inwards.
type tones struct {
	left, top     float32
	width, height int
	cells         [][3]float32
}

const (
	toneStep  = .04 // canonical
	toneReach = .14 // of the filter, canonical
	toneMost  = 40  // grey levels
)

// match compares the frame and the patch where both are seen.
func (b *brush) match() *tones {
	p := b.patch
	t := &tones{left: p.middle - patchHalf, top: p.top}
	t.width, t.height = int(2*patchHalf/toneStep)+2, int((p.bottom-p.top)/toneStep)+2
	n := t.width * t.height
	weights := make([]float32, n)
	var sums [3][]float32
	for k := range sums {
		sums[k] = make([]float32, n)
	}
	to := b.back.Inverse()
	for i := range n {
		c := face.Point{X: t.left + toneStep*float32(i%t.width), Y: t.top + toneStep*float32(i/t.width)}
		weights[i] = 1e-4
		if m := p.mask(c); m > .02 && m < .6 {
			weights[i] = 1
		}
		d := b.difference(c, to)
		for k := range sums {
			sums[k][i] = weights[i] * min(max(d[k], -toneMost), toneMost)
		}
	}
	blurGrid(weights, t.width)
	t.cells = make([][3]float32, n)
	for k := range sums {
		blurGrid(sums[k], t.width)
		for i := range t.cells {
			t.cells[i][k] = sums[k][i] / weights[i]
		}
	}
	return t
}

// difference is that of the frame and the patch around a canonical place.
func (b *brush) difference(c face.Point, to face.Similarity) (d [3]float32) {
	const quarter = toneStep / 4
	for i := range 4 {
		q := face.Point{X: c.X + quarter*float32(2*(i%2)-1), Y: c.Y + quarter*float32(2*(i/2)-1)}
		f := b.field.at(q)
		there, here := b.to.Apply(face.Point{X: q.X + f.dx, Y: q.Y + f.dy}), to.Apply(q)
		d[0] += (luma(b.frame, here) - luma(b.pixels, there)) / 4
		d[1] += (chroma(b.frame, b.frame.Cb, here) - chroma(b.pixels, b.pixels.Cb, there)) / 4
		d[2] += (chroma(b.frame, b.frame.Cr, here) - chroma(b.pixels, b.pixels.Cr, there)) / 4
	}
	return d
}

// blurGrid filters a grid in place, rows then columns.
func blurGrid(g []float32, width int) {
	const sigma = toneReach / toneStep
	height := len(g) / width
	for y := range height {
		copy(g[y*width:], smooth.Gaussian(g[y*width:(y+1)*width], sigma))
	}
	column := make([]float32, height)
	for x := range width {
		for y := range column {
			column[y] = g[y*width+x]
		}
		for y, v := range smooth.Gaussian(column, sigma) {
			g[y*width+x] = v
		}
	}
}

// at returns the tones at a canonical place.
func (t *tones) at(c face.Point) (out [3]float32) {
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
