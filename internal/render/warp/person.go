package warp

import (
	"lipsync/internal/domain/order"
	"lipsync/internal/face/alignment"
	"lipsync/internal/signal/dsp"
	"lipsync/internal/signal/pixels"
	"lipsync/internal/sound/speech"
)

// person is a person in one or more tracks, with examples of the mouth. summarise sets the fields
// from rest to lop, and Plan sets mask and masks. Lengths are canonical.
type person struct {
	tracks  []*track
	bank    bank
	rest    float32                      // what the inner edges of lips that touch are read apart
	most    float32                      // gap between the lips in a loud vowel
	speaks  bool                         // whether the person speaks in the source video: then examples replace the frames' own mouths
	line    float32                      // median of the y of the mouth's level
	lop     float32                      // median of the lop of open mouths, as a share of their gap
	look    look                         // the usual one, also of frames in which the mouth is hidden
	best    *lender                      // lends the inside of the mouth to other frames; nil if no example shows enough of it
	chooser *chooser                     // nil until it is needed
	mask    order.Mask                   // factors of the size and the edge of patches
	masks   *maskTable                   // of that edge; nil: the usual one
	hidden  func(track, source int) bool // see engine.Output
}

// Limits of the measures of a person, canonical unless they say otherwise.
const (
	usualGap     = .96 // this quantile of the gaps of all frames counts as the gap of a loud vowel
	restGap      = .1  // this quantile counts as the gap at rest
	mostAtRest   = .25 // least gap of a loud vowel, which people have who don't speak in the video: some 16 mm; by eye
	mostEver     = .30 // largest gap of a loud vowel, some 19 mm: a larger one was misread, or is a yawn; by eye
	leastToCopy  = .06 // the mouth of a person who moves the gap by less is only warped; by eye
	fewestToCopy = 40  // the mouth of a person with fewer examples is only warped, since jumps between them would show; by eye
	sharpEnough  = .6  // an example is shown only if its sharpness is this share of the median of its track, or more; by eye
)

// observe offers the person's bank the mouth of the next frame of a track.
func (p *person) observe(t *track, o observation, c *pixels.Crop) {
	p.bank.add(t, len(t.frames), &o, c)
}

// hide sets hidden, and removes the examples of the frames in which something is in front of the mouth.
func (p *person) hide(hidden func(track, source int) bool) {
	p.hidden = hidden
	for i := len(p.bank.examples) - 1; i >= 0; i-- {
		if e := &p.bank.examples[i]; p.hides(e.track, e.frame) {
			p.bank.remove(i)
		}
	}
}

// hides tells whether something is in front of the mouth in a frame of a track.
func (p *person) hides(t *track, frame int) bool {
	return p.hidden != nil && p.hidden(t.number, t.first+frame)
}

// settle sets rest, and takes it off the gaps of all frames.
func (p *person) settle() error {
	var gaps []float32
	if err := p.eachSeen(func(m *lips) { gaps = append(gaps, m.gap()) }); err != nil {
		return err
	}
	p.rest = alignment.RestGap(gaps)
	return p.each(func(o *observation) { o.settle(p.rest) })
}

// each calls f with the observation of each frame of all tracks, and keeps what f changes.
func (p *person) each(f func(*observation)) error {
	for _, t := range p.tracks {
		if err := t.each(func(_ int, o *observation) { f(o) }); err != nil {
			return err
		}
	}
	return nil
}

// summarise measures the person, by the frames of all tracks together in which the mouth is not hidden.
func (p *person) summarise(fps float64) error {
	if err := p.settle(); err != nil {
		return err
	}
	var gaps, levels, lops []float32
	err := p.eachSeen(func(m *lips) {
		gap := m.gap()
		gaps, levels = append(gaps, gap), append(levels, m.level())
		if gap > leastToCopy {
			lops = append(lops, m.lop()/gap)
		}
	})
	if err != nil {
		return err
	}
	widest := dsp.Quantile(gaps, usualGap)
	p.speaks = widest-dsp.Quantile(gaps, restGap) > leastToCopy && len(p.bank.examples) >= fewestToCopy
	p.most = min(max(widest, mostAtRest), mostEver)
	p.line, p.lop = dsp.Quantile(levels, .5), dsp.Quantile(lops, .5)
	for _, t := range p.tracks {
		if err := t.measureExpression(fps); err != nil {
			return err
		}
	}
	if !p.speaks {
		err := p.each(func(o *observation) {
			if o.gap() < alignment.Touching {
				o.close()
			}
		})
		if err != nil {
			return err
		}
	}
	for i := range p.bank.examples {
		e := &p.bank.examples[i]
		if e.shown, err = e.track.frame(e.frame); err != nil {
			return err
		}
	}
	p.findBest()
	return nil
}

// eachSeen calls f with the mouth in each frame in which it is not hidden.
func (p *person) eachSeen(f func(*lips)) error {
	for _, t := range p.tracks {
		err := t.each(func(i int, o *observation) {
			if !p.hides(t, i) {
				f(&o.lips)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// findBest sets best. Of the examples that are not blurred it is the one that shows most of what a straight mouth shows when it is open, of those
// with the teeth apart, or else of all. The lower teeth of clenched ones would not go down with the jaw: they aren't lent.
func (p *person) findBest() {
	examples := p.bank.examples
	tilts, widths := make([]float32, len(examples)), make([]float32, len(examples))
	for i := range examples {
		tilts[i], widths[i] = examples[i].shown.tilt(), examples[i].shown.width()
	}
	tilt, width := dsp.Quantile(tilts, .5), dsp.Quantile(widths, .5)
	most, bestApart := float32(0), false
	for i, blurred := range blurred(examples) {
		e := &examples[i]
		m := &e.shown.lips
		high := min(m.gap(), p.most) - abs(m.lop()) - abs(m.tilt()-tilt)*m.width() // less what a grimace hides on one side
		if blurred || high <= leastInside {
			continue
		}
		shows := high * min(m.width(), width)
		end, apart := e.upperTeeth()
		if apart {
			end = 1
		}
		if apart && !bestApart || apart == bestApart && shows > most {
			p.best, most, bestApart = &lender{e, end}, shows, apart
		}
	}
}

// The form of a mouth at full articulation.
const (
	narrowest = .25 // share of the mouth's width that rounding takes away: more than the .22 of Abry and Boë ("Laws for lips", 1986), since speech rarely asks for all of it
	unsmiling = .83 // a mouth that smiles counts as no wider than this when it rounds, canonical: mouths are 54.5 and 50.2 mm wide (Farkas, "Anthropometry of the head and face", 1994, men and women), pupils 64.0 and 61.7 mm apart (Dodgson, 2004)
	broadest  = .08 // share of the mouth's width that spread adds; by eye
	pout      = .12 // share of the height of the lips that rounding adds; by eye
	press     = .12 // share of the height of the lips that rolls inwards in a closure, if they were apart; by eye
	bite      = .12 // share of the gap of a loud vowel that is left in f and v; by eye
)

// shape returns the shape of the person's mouth in an articulation. width is its width at rest,
// canonical. In silence the lips touch lightly. A smile ends when the mouth rounds.
func (p *person) shape(a speech.Articulation, width float32) shape {
	if a.Closure < 1 { // silence weakens the articulation, unless a closure is complete
		voice := 1 - a.Silence
		a.Closure, a.Labiodental, a.Rounding, a.Spread = voice*a.Closure, voice*a.Labiodental, voice*a.Rounding, voice*a.Spread
	}
	teeth := square(a.Labiodental) // squared, since the lower lip rises only while it is surely at the teeth
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
		hide:  (alignment.Touching + p.rest) * a.Closure,
		roll:  press * a.Closure,
		tuck:  teeth * (1 - a.Closure),
		far:   float32(p.mask.Expand.Factor() - 1),
	}
}
