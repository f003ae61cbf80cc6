package warp

import (
	"slices"

	"lipsync/internal/face"
	"lipsync/internal/smooth"
)

// persona is what a whole track tells of a person's mouth.
type persona struct {
	opening []float32 // of each look, canonical
	most    float32   // opening that a loud vowel gets
	speaks  bool      // in the source: then its own movement must go
	closed  []float32 // of each example, 0 the most closed to 1
	line    float32   // y of the line between closed lips
	dark    [3]float32
}

const (
	mostAtRest   = .17 // opening of a mouth that doesn't speak by itself
	mostEver     = .30
	closedLooks  = 24  // of the examples are taken for closed
	leastToCopy  = .10 // of the opening: a mouth that opens less is only warped
	fewestToCopy = 40  // examples: with fewer too
	gapByDip     = 2   // of the gap between the lips, to the area of the dip by its depth
	sharpEnough  = .6  // of the median sharpness: an example that is more blurred isn't shown
)

// finish draws the sums of a track that ended.
func (t *take) finish() {
	n := len(t.looks)
	if n == 0 {
		return
	}
	lips, valley, dips := make([]float32, n), make([]float32, n), make([]float32, n)
	for i, l := range t.looks {
		lips[i], valley[i], dips[i] = l.lips(), l.valley, l.dip
	}
	lips = smooth.Gaussian(smooth.Median(lips, 3), .8)
	valley = smooth.Gaussian(smooth.Median(valley, 3), .5)
	t.opening = openings(lips, valley, dips)
	t.most = min(smooth.Quantile(t.opening, .96), mostEver)
	t.speaks = t.most > leastToCopy && len(t.bank.examples) >= fewestToCopy
	if !t.speaks {
		rest := smooth.Quantile(lips, .05)
		for i, h := range lips {
			t.opening[i] = .45 * max(h-rest, 0)
		}
		t.most = mostAtRest
	}
	t.closed = closedness(t.bank.examples, lips, valley)
	t.line = t.closedLine()
	for k := range t.dark {
		var all []float32
		for _, d := range t.darks {
			all = append(all, d[k])
		}
		t.dark[k] = smooth.Quantile(all, .5)
	}
}

// openings tells how far each frame's mouth is open. Its course is that of the
// height of the lips and of the dip in redness between them; its scale is the
// width of the dip, since lips grow and shrink by smiles too.
func openings(lips, valley, dips []float32) []float32 {
	h, v := normalised(lips, .06), normalised(valley, .06)
	out := make([]float32, len(lips))
	for i := range out {
		out[i] = .4*h[i] + .6*v[i]
	}
	gap := (smooth.Quantile(valley, .97) - smooth.Quantile(valley, .06)) / max(smooth.Quantile(dips, .97), 1)
	for i, z := range normalised(out, .05) {
		out[i] = min(max(z, 0), 1.3) * gap * gapByDip
	}
	return out
}

// normalised scales x so that its quantile low becomes 0 and that at .97 1.
func normalised(x []float32, low float64) []float32 {
	a, b := smooth.Quantile(x, low), smooth.Quantile(x, .97)
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = (v - a) / max(b-a, 1e-6)
	}
	return out
}

// closedness ranks examples by how closed they are: low lips, no dip between
// them, and like the many that look alike when a mouth is closed.
func closedness(examples []example, lips, valley []float32) []float32 {
	n := len(examples)
	if n == 0 {
		return nil
	}
	h, v := make([]float32, n), make([]float32, n)
	for i, e := range examples {
		h[i], v[i] = lips[e.look], valley[e.look]
	}
	h, v = ranks(h), ranks(v)
	like := make([]float32, n)
	reference := densest(examples, h)
	for i := range examples {
		like[i] = examples[i].shape.distance(&examples[reference].shape)
	}
	like = ranks(like)
	out := make([]float32, n)
	for i := range out {
		out[i] = h[i] + v[i] + .5*like[i]
	}
	return ranks(out)
}

// densest returns, of the examples with low lips (given their ranks), the one
// that most others look like.
func densest(examples []example, rank []float32) int {
	const neighbours = 10
	var low []int
	for i, r := range rank {
		if r < .4 {
			low = append(low, i)
		}
	}
	spread := make([]float32, len(low))
	for a, i := range low {
		d := make([]float32, len(low))
		for b, k := range low {
			d[b] = examples[i].shape.distance(&examples[k].shape)
		}
		slices.Sort(d)
		for _, v := range d[:min(neighbours+1, len(d))] {
			spread[a] += v
		}
	}
	best, least := 0, float32(10)
	for a, r := range ranks(spread) {
		if score := r + rank[low[a]]; score < least {
			best, least = low[a], score
		}
	}
	return best
}

// ranks replaces each value by its place in the order of all, 0 to 1.
func ranks(x []float32) []float32 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case x[a] < x[b]:
			return -1
		case x[a] > x[b]:
			return 1
		}
		return 0
	})
	out := make([]float32, len(x))
	for r, i := range order {
		out[i] = float32(r) / float32(max(len(x)-1, 1))
	}
	return out
}

// closedLine returns the y of the line between the lips in the closed examples.
func (t *take) closedLine() float32 {
	var ys []float32
	for i, e := range t.bank.examples {
		if t.closed[i]*float32(len(t.bank.examples)) <= closedLooks {
			l := &t.looks[e.look]
			ys = append(ys, l.line.at(&l.mouth, l.middle()))
		}
	}
	return smooth.Quantile(ys, .5)
}

// darkest returns the colour of the darkest twenty-fifth of the mouth's box,
// no brighter than the inside of a mouth is.
func darkest(p *face.Picture, l look) [3]float32 {
	const columns, rows, above, below, bright = 24, 12, .05, .1, 70
	type dot struct{ y, cb, cr float32 }
	var dots []dot
	mid := l.line.at(&l.mouth, l.middle())
	for r := range rows {
		for c := range columns {
			q := l.to.Apply(face.Point{
				X: l.left.X + l.width()*(float32(c)+.5)/columns,
				Y: mid - above + (above+below)*(float32(r)+.5)/rows})
			dots = append(dots, dot{luma(p.YCbCr, q), chroma(p.YCbCr, p.Cb, q), chroma(p.YCbCr, p.Cr, q)})
		}
	}
	slices.SortFunc(dots, func(a, b dot) int { return int(a.y) - int(b.y) })
	var sum dot
	n := len(dots) / 25
	for _, d := range dots[:n] {
		sum.y += d.y / float32(n)
		sum.cb += d.cb / float32(n)
		sum.cr += d.cr / float32(n)
	}
	return [3]float32{min(sum.y, bright), sum.cb, sum.cr}
}
