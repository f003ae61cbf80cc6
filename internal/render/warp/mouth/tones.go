package mouth

import (
	"image"
	"math"

	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// tones says how much brighter and redder a face is than the patch on it: planes through the ratio of their
// luma and the difference of their chroma along the patch's soft edge.
type tones struct {
	left, top     float32   // canonical place of the first cell
	width, height int       // cells
	planes        [3]plane  // logarithm of the gain of luma, shifts of Cb and Cr
	alike         []float32 // similarity of frame and patch where the patch is more opaque than it has to be, 0 to 1, row by row
}

// Constants of tones, by eye.
const (
	toneStep = .04  // from cell to cell, canonical
	gainMost = 1.25 // the patch becomes at most so many times brighter or darker: with more, teeth glowed
	toneMost = 30   // largest shift of chroma, levels
	stiff    = .1   // squared slopes of a plane count as much as this share of all comparisons

	// Frame and patch are compared where the mask of the usual patch is between these values: in its soft edge.
	edgeFrom, edgeTo = .02, .6

	// Differences, in levels, at which a comparison has half the weight, and the patch half of its opacity.
	alienLuma   = 20 // only one of the two shows hair or background
	alienChroma = 10 // only one of the two shows a lip
)

// plane is a value that changes evenly: at + x × right + y × down, with canonical x and y from the middle of the patch.
type plane struct {
	middle          geom.Point
	at, right, down float32
}

func (p *plane) value(c geom.Point) float32 {
	return p.at + p.right*(c.X-p.middle.X) + p.down*(c.Y-p.middle.Y)
}

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
	compared := make([][6]float32, t.width*t.height)
	var fits [3]fit
	middle := geom.Point{X: p.middle, Y: (p.top + p.bottom) / 2}
	for i := range t.width * t.height {
		c := t.cell(i)
		if m := p.mask(c); m <= edgeFrom || m >= edgeTo {
			continue
		}
		v := l.compare(c)
		compared[i] = v
		w := 1 / (1 + square((v[0]-v[3])/alienLuma) + square((v[1]-v[4])/alienChroma) + square((v[2]-v[5])/alienChroma))
		at := geom.Point{X: c.X - middle.X, Y: c.Y - middle.Y}
		fits[0].add(at, float64(w), math.Log(float64(max(v[0]-black, 1)/max(v[3]-black, 1))))
		fits[1].add(at, float64(w), float64(v[1]-v[4]))
		fits[2].add(at, float64(w), float64(v[2]-v[5]))
	}
	for k := range fits {
		t.planes[k] = fits[k].plane(middle)
	}
	l.matchBeside(t, compared)
	return t
}

// cell returns the place of cell i.
func (t *tones) cell(i int) geom.Point {
	return geom.Point{X: t.left + toneStep*float32(i%t.width), Y: t.top + toneStep*float32(i/t.width)}
}

// fit fits a plane to weighted values, by least squares.
type fit struct {
	n      float64       // sum of weights
	sums   [3][3]float64 // of weight × (1, x, y) × (1, x, y)
	values [3]float64    // of weight × (1, x, y) × value
}

func (f *fit) add(c geom.Point, weight, value float64) {
	at := [3]float64{1, float64(c.X), float64(c.Y)}
	for i, a := range at {
		for k, b := range at {
			f.sums[i][k] += weight * a * b
		}
		f.values[i] += weight * a * value
	}
	f.n += weight
}

// plane returns the plane, which is level if nothing was added.
func (f *fit) plane(middle geom.Point) plane {
	if f.n == 0 {
		return plane{}
	}
	f.sums[1][1] += stiff * f.n
	f.sums[2][2] += stiff * f.n
	for i := range 3 { // Gauss–Jordan elimination: the matrix is positive definite
		for k := range 3 {
			if k == i {
				continue
			}
			by := f.sums[k][i] / f.sums[i][i]
			for j := range 3 {
				f.sums[k][j] -= by * f.sums[i][j]
			}
			f.values[k] -= by * f.values[i]
		}
	}
	return plane{middle, float32(f.values[0] / f.sums[0][0]), float32(f.values[1] / f.sums[1][1]), float32(f.values[2] / f.sums[2][2])}
}

// matchBeside sets alike. Beside the mouths there may be hair or background in the frame, or in the patch, as if a head turns: there they are not
// alike. compared has what was compared already.
func (l *layer) matchBeside(t *tones, compared [][6]float32) {
	t.alike = make([]float32, t.width*t.height)
	for i := range t.alike {
		t.alike[i] = 1
		c := t.cell(i)
		if l.patch.mask(c) > l.patch.least(c) {
			v, tone := compared[i], t.at(c)
			if v == [6]float32{} {
				v = l.compare(c)
			}
			unlike := square((v[0]-toned(v[3], tone[0]))/alienLuma) + square((v[1]-v[4]-tone[1])/alienChroma) + square((v[2]-v[5]-tone[2])/alienChroma)
			t.alike[i] = 1 / (1 + square(unlike))
		}
	}
	scratch := make([]float32, max(t.width, t.height))
	pixels.BoxBlur(pixels.Plane[float32]{Pix: t.alike, Width: t.width, Height: t.height, Stride: t.width}, scratch, 1, 1)
}

// limit returns the mask of a patch at a canonical place. It is more opaque than least only as far as frame and patch are alike.
func (t *tones) limit(mask, least float32, c geom.Point) float32 {
	if mask <= least {
		return mask
	}
	x, y := int((c.X-t.left)/toneStep), int((c.Y-t.top)/toneStep)
	x, y = min(max(x, 0), t.width-2), min(max(y, 0), t.height-2)
	fx, fy := pixels.Unit((c.X-t.left)/toneStep-float32(x)), pixels.Unit((c.Y-t.top)/toneStep-float32(y))
	a, b := t.alike[y*t.width+x:], t.alike[(y+1)*t.width+x:]
	top, low := a[0]+(a[1]-a[0])*fx, b[0]+(b[1]-b[0])*fx
	alike := top + (low-top)*fy
	return least + (mask-least)*alike
}

// compare returns Y, Cb and Cr of the frame, and then of the patch, at a canonical place. Each is
// the mean of four places in the cell.
func (l *layer) compare(c geom.Point) (v [6]float32) {
	const quarter = toneStep / 4
	for i := range 4 {
		q := geom.Point{X: c.X + quarter*float32(2*(i%2)-1), Y: c.Y + quarter*float32(2*(i/2)-1)}
		f := l.field.at(q)
		u := l.under.at(q)
		there, here := l.to.Apply(geom.Point{X: q.X + f.dx, Y: q.Y + f.down()}), l.onto.Apply(geom.Point{X: q.X + u.dx, Y: q.Y + u.down()})
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
	gain := float32(math.Exp(float64(t.planes[0].value(c))))
	out[0] = min(max(gain, 1/gainMost), gainMost)
	for k := 1; k < 3; k++ {
		out[k] = min(max(t.planes[k].value(c), -toneMost), toneMost)
	}
	return out
}

// toned returns a luma after a gain. Black stays black.
func toned(luma, gain float32) float32 { return black + (luma-black)*gain }
