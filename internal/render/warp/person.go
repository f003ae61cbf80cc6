package warp

import (
	"lipsync/internal/face/alignment"
	"lipsync/internal/render/warp/mouth"
	"lipsync/internal/signal/dsp"
	"lipsync/internal/signal/pixels"
)

// person is a person in one or more tracks, with examples of the mouth. summarise sets the fields that are
// measures, and Plan prepares the rest of mouth.Person. Lengths are canonical.
type person struct {
	mouth.Person
	tracks  []*track
	bank    bank
	speaks  bool                         // whether the person speaks in the source video: then examples replace the frames' own mouths
	lop     float32                      // median of the lop of open mouths, as a share of their gap
	chooser *chooser                     // nil until it is needed
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
func (p *person) observe(t *track, o mouth.Observation, c *pixels.Crop) {
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
	if err := p.eachSeen(func(o *mouth.Observation) { gaps = append(gaps, o.Gap()) }); err != nil {
		return err
	}
	p.Rest = alignment.RestGap(gaps)
	return p.each(func(o *mouth.Observation) { o.Settle(p.Rest) })
}

// each calls f with the observation of each frame of all tracks, and keeps what f changes.
func (p *person) each(f func(*mouth.Observation)) error {
	for _, t := range p.tracks {
		if err := t.each(func(_ int, o *mouth.Observation) { f(o) }); err != nil {
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
	err := p.eachSeen(func(o *mouth.Observation) {
		gap := o.Gap()
		gaps, levels = append(gaps, gap), append(levels, o.Level())
		if gap > leastToCopy {
			lops = append(lops, o.Lop()/gap)
		}
	})
	if err != nil {
		return err
	}
	widest := dsp.Quantile(gaps, usualGap)
	p.speaks = widest-dsp.Quantile(gaps, restGap) > leastToCopy && len(p.bank.examples) >= fewestToCopy
	p.Most = min(max(widest, mostAtRest), mostEver)
	p.Line, p.lop = dsp.Quantile(levels, .5), dsp.Quantile(lops, .5)
	for _, t := range p.tracks {
		if err := t.measureExpression(fps); err != nil {
			return err
		}
	}
	if !p.speaks {
		err := p.each(func(o *mouth.Observation) {
			if o.Gap() < alignment.Touching {
				o.Close()
			}
		})
		if err != nil {
			return err
		}
	}
	for i := range p.bank.examples {
		e := &p.bank.examples[i]
		if e.Shown, err = e.track.frame(e.frame); err != nil {
			return err
		}
	}
	p.FindBest(p.bank.mouths(), blurred(p.bank.examples))
	return nil
}

// eachSeen calls f with the mouth in each frame in which it is not hidden.
func (p *person) eachSeen(f func(*mouth.Observation)) error {
	for _, t := range p.tracks {
		err := t.each(func(i int, o *mouth.Observation) {
			if !p.hides(t, i) {
				f(o)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
