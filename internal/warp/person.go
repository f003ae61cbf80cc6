package warp

import (
	"slices"

	"lipsync/internal/dsp"
	"lipsync/internal/geom"
	"lipsync/internal/pixels"
	"lipsync/internal/speech"
)

// person is someone in one or more tracks: examples of the mouth, and after Plan
// measures that are taken from all tracks together.
type person struct {
	tracks  []*track
	colours colours
	bank    bank
	darks   [][3]float32 // colours of the inside of the mouth
	most    float32      // gap between the lips that a loud vowel gets, canonical
	speaks  bool         // in the source: then its own movement must go
	line    float32      // y of the middle of the mouth
	dark    [3]float32   // median of darks
	chooser *chooser     // nil until it is needed
}

const (
	mostAtRest   = .25 // gap of a loud vowel of a mouth that doesn't speak by itself
	mostEver     = .30
	leastToCopy  = .06 // range of the gap: a mouth that moves less is only warped
	fewestToCopy = 40  // examples: with fewer too
	sharpEnough  = .6  // of the median sharpness of its track: an example that is more blurred isn't shown
)

// see offers the person's bank a mouth, that of the track's next frame.
func (p *person) see(t *track, o observation, c *pixels.Crop) {
	p.bank.add(t, len(t.frames), &o, c)
	if len(t.frames)%8 == 0 && len(p.darks) < 400 {
		p.darks = append(p.darks, darkest(c, &o))
	}
}

// sumUp works out what the tracks tell about the person together.
func (p *person) sumUp(fps float64) {
	height := p.lipHeight()
	var gaps, levels []float32
	for _, t := range p.tracks {
		for i := range t.frames {
			o := &t.frames[i]
			o.reconcile(height)
			gaps, levels = append(gaps, o.gap()), append(levels, o.level())
		}
	}
	widest := dsp.Quantile(gaps, .96)
	p.speaks = widest-dsp.Quantile(gaps, .1) > leastToCopy && len(p.bank.examples) >= fewestToCopy
	p.most = min(max(widest, mostAtRest), mostEver)
	p.line = dsp.Quantile(levels, .5)
	for _, t := range p.tracks {
		t.measureWidths(fps, p.speaks)
		for i := range t.frames {
			if !p.speaks && t.frames[i].gap() < parted {
				t.frames[i].close()
			}
		}
	}
	for k := range p.dark {
		var all []float32
		for _, d := range p.darks {
			all = append(all, d[k])
		}
		p.dark[k] = dsp.Quantile(all, .5)
	}
}

// lipHeight returns the height of both lips together, the usual one of all frames.
func (p *person) lipHeight() float32 {
	var heights []float32
	for _, t := range p.tracks {
		for i := range t.frames {
			heights = append(heights, t.frames[i].lips()-t.frames[i].gap())
		}
	}
	return dsp.Quantile(heights, .5)
}

// reconcile sets the gap between the lips to the mean of two readings: that of the
// inner edges, which a shine on a lip can mislead, and that of the outer edges, of
// which the height of the lips is taken away.
func (m *mouth) reconcile(height float32) {
	gap, level := (m.gap()+max(m.lips()-height, 0))/2, m.upper+upperShare*m.gap()
	if gap == 0 {
		m.close()
		return
	}
	m.upper, m.lower = level-upperShare*gap, level+(1-upperShare)*gap
}

// What a mouth does with its articulation.
const (
	narrowest = .22 // of the width of the mouth that full rounding takes away (Abry and Boë, "Laws for lips", 1986)
	unsmiling = .83 // width from which it does so in a smile, canonical: mouths are 54.5 and 50.2 mm wide (Farkas, "Anthropometry of the head and face", 1994, men and women), pupils 64.0 and 61.7 mm apart (Dodgson, 2004)
	broadest  = .06 // of it that full spread adds
	pout      = .12 // of the height of the lips that full rounding adds
	press     = .30 // of the height of the lips that rolls inwards where they were apart and are pressed together
	bite      = .12 // of the gap of a loud vowel that is left where the lower lip is at the teeth
)

// shape returns the shape that an articulation asks of a mouth of a given width
// at rest. In silence the lips touch lightly. A smile ends where it rounds.
func (p *person) shape(a speech.Articulation, width float32) shape {
	if a.Closure < 1 { // a closure that is heard is made in any case
		voice := 1 - a.Silence
		a.Closure, a.Labiodental, a.Rounding, a.Spread = voice*a.Closure, voice*a.Labiodental, voice*a.Rounding, voice*a.Spread
	}
	teeth := sq(a.Labiodental) // the lip stays there while it is certain
	gap := p.most * (a.Opening + (min(a.Opening, bite)-a.Opening)*teeth)
	if a.Closure == 1 {
		gap = 0
	}
	round := (1 - narrowest) * min(width, unsmiling)
	return shape{
		gap:   gap,
		width: width + (round-width)*a.Rounding + broadest*width*a.Spread,
		flat:  a.Rounding,
		upper: 1 + pout*a.Rounding,
		lower: 1 + pout*a.Rounding,
		roll:  press * a.Closure,
		tuck:  teeth * (1 - a.Closure),
	}
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
