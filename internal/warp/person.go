package warp

import (
	"cmp"
	"slices"

	"lipsync/internal/dsp"
	"lipsync/internal/geom"
	"lipsync/internal/pixels"
)

// person is someone in one or more tracks: examples of the mouth, and after Plan
// what all tracks together tell of it.
type person struct {
	tracks  []*track
	bank    bank
	darks   [][3]float32 // colours of the inside of the mouth
	most    float32      // opening that a loud vowel gets, canonical
	speaks  bool         // in the source: then its own movement must go
	closed  []float32    // of each example, 0 the most closed to 1
	line    float32      // y of the line between closed lips
	dark    [3]float32   // median of darks
	chooser *chooser     // nil until it is needed
}

const (
	mostAtRest     = .17 // opening of a mouth that doesn't speak by itself
	mostEver       = .30
	closedExamples = 24  // of the examples are taken for closed
	leastToCopy    = .10 // of the opening: a mouth that opens less is only warped
	fewestToCopy   = 40  // examples: with fewer too
	gapByDip       = 2   // of the gap between the lips, to the area of the dip by its depth
	sharpEnough    = .6  // of the median sharpness of its track: an example that is more blurred isn't shown
)

// see offers the person's bank a mouth, that of the track's next frame.
func (p *person) see(t *track, o observation, c *pixels.Crop) {
	p.bank.add(t, len(t.frames), &o, c)
	if len(t.frames)%8 == 0 && len(p.darks) < 400 {
		p.darks = append(p.darks, darkest(c, &o))
	}
}

// sumUp works out what all tracks together tell of the person.
func (p *person) sumUp() {
	lips, valley, dips := p.course()
	opening := openings(lips, valley, dips)
	p.most = min(dsp.Quantile(opening, .96), mostEver)
	p.speaks = p.most > leastToCopy && len(p.bank.examples) >= fewestToCopy
	if !p.speaks {
		rest := dsp.Quantile(lips, .05)
		for i, h := range lips {
			opening[i] = .45 * max(h-rest, 0)
		}
		p.most = mostAtRest
	}
	offset := map[*track]int{}
	at := 0
	for _, t := range p.tracks {
		offset[t] = at
		t.opening = opening[at : at+len(t.frames)]
		at += len(t.frames)
	}
	h, v := make([]float32, len(p.bank.examples)), make([]float32, len(p.bank.examples))
	for i, e := range p.bank.examples {
		h[i], v[i] = lips[offset[e.track]+e.frame], valley[offset[e.track]+e.frame]
	}
	p.closed = closedness(p.bank.examples, h, v)
	p.line = p.closedLine()
	for k := range p.dark {
		var all []float32
		for _, d := range p.darks {
			all = append(all, d[k])
		}
		p.dark[k] = dsp.Quantile(all, .5)
	}
}

// course returns the measures of all frames, track by track.
func (p *person) course() (lips, valley, dips []float32) {
	for _, t := range p.tracks {
		var h, v []float32
		for _, l := range t.frames {
			h, v, dips = append(h, l.lips()), append(v, l.valley), append(dips, l.dip)
		}
		lips = append(lips, dsp.Gaussian(dsp.Median(h, 3), .8)...)
		valley = append(valley, dsp.Gaussian(dsp.Median(v, 3), .5)...)
	}
	return lips, valley, dips
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
	gap := (dsp.Quantile(valley, .97) - dsp.Quantile(valley, .06)) / max(dsp.Quantile(dips, .97), 1)
	for i, z := range normalised(out, .05) {
		out[i] = min(max(z, 0), 1.3) * gap * gapByDip
	}
	return out
}

// normalised scales x so that its quantile low becomes 0 and that at .97 1.
func normalised(x []float32, low float64) []float32 {
	a, b := dsp.Quantile(x, low), dsp.Quantile(x, .97)
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = (v - a) / max(b-a, 1e-6)
	}
	return out
}

// closedness ranks examples by how closed they are: low lips, no dip between
// them (given for each), and like the many that look alike when a mouth is closed.
func closedness(examples []example, lips, valley []float32) []float32 {
	n := len(examples)
	if n == 0 {
		return nil
	}
	h, v := ranks(lips), ranks(valley)
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
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	out := make([]float32, len(x))
	for r, i := range order {
		out[i] = float32(r) / float32(max(len(x)-1, 1))
	}
	return out
}

// closedLine returns the y of the line between the lips in the closed examples.
func (p *person) closedLine() float32 {
	var ys []float32
	for i, e := range p.bank.examples {
		if p.closed[i]*float32(len(p.bank.examples)) <= closedExamples {
			l := e.shown()
			ys = append(ys, l.line.at(&l.mouth, l.middle()))
		}
	}
	return dsp.Quantile(ys, .5)
}

// darkest returns the colour of the darkest twenty-fifth of the mouth's box,
// no brighter than the inside of a mouth is.
func darkest(c *pixels.Crop, o *observation) [3]float32 {
	const columns, rows, above, below, bright = 24, 12, .05, .1, 70
	type dot struct{ y, cb, cr float32 }
	var dots []dot
	mid := o.line.at(&o.mouth, o.middle())
	for r := range rows {
		for k := range columns {
			q := o.to.Apply(geom.Point{
				X: o.left.X + o.width()*(float32(k)+.5)/columns,
				Y: mid - above + (above+below)*(float32(r)+.5)/rows})
			cb, cr := pixels.ChromaAt(c.YCbCr, q)
			dots = append(dots, dot{pixels.LumaAt(c.YCbCr, q), cb, cr})
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
