package warp

import (
	"image"

	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// tones says how much brighter and redder a face is than the patch on it. It holds the ratio of their
// luma and the difference of their chroma along the patch's soft edge, smoothed and carried on inwards.
type tones struct {
	left, top     float32      // canonical place of the first cell
	width, height int          // cells
	cells         [][3]float32 // gain of luma, shifts of Cb and Cr, row by row
	alike         []float32    // similarity of frame and patch where the patch is more opaque than usual, 0 to 1, row by row; nil for a usual patch
}

// Constants of tones, by eye.
const (
	toneStep   = .04  // from cell to cell, canonical
	toneReach  = 3    // cells to each side of a box filter
	toneRounds = 3    // number of box filters, one after the other: nearly a Gaussian with a standard deviation of 3.5 cells
	gainMost   = 1.25 // the patch becomes at most so many times brighter or darker: with more, teeth glowed
	toneMost   = 30   // largest shift of chroma, levels
	neutral    = 128  // value of a cell that isn't compared, the same for frame and patch
	leastTone  = 1e-4 // weight of such a cell

	// Frame and patch are compared where the mask of the usual patch is between these values: in its soft edge.
	edgeFrom, edgeTo = .02, .6

	// Differences, in levels, at which a comparison has half the weight.
	alienLuma   = 20 // only one of the two shows hair or background
	alienChroma = 10 // only one of the two shows a lip
)

// match compares the frame and the patch along the soft edge of the usual patch.
func (l *layer) match() *tones {
	p := l.patch
	side, top, bottom := p.side, p.top, p.bottom
	if p.usual != nil {
		p = p.usual // its edge is on the face
		side, top, bottom = max(side, p.side), min(top, p.top), max(bottom, p.bottom)
	}
	t := &tones{left: p.middle - side, top: top}
	t.width, t.height = int(2*side/toneStep)+2, int((bottom-top)/toneStep)+2
	n := t.width * t.height
	// For each cell: its weight; luma, Cb and Cr of the frame; and those of the patch.
	var sums [7][]float32
	for k := range sums {
		sums[k] = make([]float32, n)
	}
	for i := range n {
		c := geom.Point{X: t.left + toneStep*float32(i%t.width), Y: t.top + toneStep*float32(i/t.width)}
		w, v := float32(leastTone), [6]float32{neutral, neutral, neutral, neutral, neutral, neutral}
		if m := p.mask(c); m > edgeFrom && m < edgeTo {
			v = l.compare(c)
			w = 1 / (1 + square((v[0]-v[3])/alienLuma) + square((v[1]-v[4])/alienChroma) + square((v[2]-v[5])/alienChroma))
		}
		sums[0][i] = w
		for k, v := range v {
			sums[1+k][i] = w * v
		}
	}
	scratch := make([]float32, max(t.width, t.height))
	for k := range sums {
		p := pixels.Plane[float32]{Pix: sums[k], Width: t.width, Height: t.height, Stride: t.width}
		for range toneRounds {
			pixels.BoxBlur(p, scratch, toneReach, toneReach)
		}
	}
	t.cells = make([][3]float32, n)
	for i := range t.cells {
		t.cells[i][0] = min(max(sums[1][i]/max(sums[4][i], leastTone), 1/gainMost), gainMost)
		for k := 1; k < 3; k++ {
			t.cells[i][k] = min(max((sums[1+k][i]-sums[4+k][i])/sums[0][i], -toneMost), toneMost)
		}
	}
	if l.patch.usual != nil {
		l.matchMore(t)
	}
	return t
}

// matchMore sets alike. Beyond the usual patch there may be hair or background in the frame, or in the patch: there they are not
// alike.
func (l *layer) matchMore(t *tones) {
	t.alike = make([]float32, len(t.cells))
	for i, tone := range t.cells {
		t.alike[i] = 1
		c := geom.Point{X: t.left + toneStep*float32(i%t.width), Y: t.top + toneStep*float32(i/t.width)}
		if l.patch.mask(c) > l.patch.usual.mask(c) {
			v := l.compare(c)
			t.alike[i] = 1 / (1 + square((v[0]-v[3]*tone[0])/alienLuma) + square((v[1]-v[4]-tone[1])/alienChroma) + square((v[2]-v[5]-tone[2])/alienChroma))
		}
	}
	scratch := make([]float32, max(t.width, t.height))
	pixels.BoxBlur(pixels.Plane[float32]{Pix: t.alike, Width: t.width, Height: t.height, Stride: t.width}, scratch, 1, 1)
}

// limit returns the mask of a patch at a canonical place. Beyond the usual patch it is only as opaque as frame and patch are
// alike. usual is the mask of the usual patch there.
func (t *tones) limit(mask, usual float32, c geom.Point) float32 {
	if mask <= usual {
		return mask
	}
	x, y := int((c.X-t.left)/toneStep), int((c.Y-t.top)/toneStep)
	x, y = min(max(x, 0), t.width-2), min(max(y, 0), t.height-2)
	fx, fy := clamp((c.X-t.left)/toneStep-float32(x)), clamp((c.Y-t.top)/toneStep-float32(y))
	a, b := t.alike[y*t.width+x:], t.alike[(y+1)*t.width+x:]
	top, low := a[0]+(a[1]-a[0])*fx, b[0]+(b[1]-b[0])*fx
	alike := top + (low-top)*fy
	return usual + (mask-usual)*(alike+(1-alike)*usual)
}

// compare returns Y, Cb and Cr of the frame, and then of the patch, at a canonical place. Each is
// the mean of four places in the cell.
func (l *layer) compare(c geom.Point) (v [6]float32) {
	const quarter = toneStep / 4
	for i := range 4 {
		q := geom.Point{X: c.X + quarter*float32(2*(i%2)-1), Y: c.Y + quarter*float32(2*(i/2)-1)}
		f := l.field.at(q)
		sink := l.patch.aside(q.X) * l.patch.down(q.Y)
		there, here := l.to.Apply(geom.Point{X: q.X + f.dx, Y: q.Y + f.down()}), l.onto.Apply(geom.Point{X: q.X, Y: q.Y - sink})
		for k, s := range [2]struct {
			pixels *image.YCbCr
			at     geom.Point
		}{{l.frame, here}, {l.pixels, there}} {
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
	const inside = .001 // cells: keeps the cells to the right and below within the grid
	x := min(max((c.X-t.left)/toneStep, 0), float32(t.width-1)-inside)
	y := min(max((c.Y-t.top)/toneStep, 0), float32(t.height-1)-inside)
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
