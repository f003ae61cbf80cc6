package mouth

import (
	"lipsync/internal/domain/order"
	"lipsync/internal/face/alignment"
	"lipsync/internal/signal/dsp"
	"lipsync/internal/sound/speech"
)

// Person holds what the mouths of a person have in common. Lengths are canonical.
type Person struct {
	Rest  float32    // what the inner edges of lips that touch are read apart
	Most  float32    // gap between the lips in a loud vowel
	Line  float32    // median of the y of the mouth's level
	look  look       // the usual one, also of frames in which the mouth is hidden
	best  *lender    // lends the inside of the mouth to all frames; nil if no example shows enough of it
	mask  order.Mask // factors of the size and the edge of patches
	masks *maskTable // of that edge; nil: the usual one
}

// Prepare sets the mask of patches, and how the person usually looks, by all examples.
func (p *Person) Prepare(m order.Mask, all []*Example) {
	p.mask, p.masks, p.look = m, &usualMasks, usualLook(all)
	if _, soft := m.Edge(patchSoft); soft != patchSoft {
		p.masks = newMaskTable(soft)
	}
}

// FindBest chooses the example that lends the inside of the mouth: one that is not blurred and shows the upper teeth, with the teeth apart if there
// is any, and of these the one that shows most of what a straight, open mouth shows. Of clenched teeth only the upper ones are lent, since the lower
// ones would not go down with the jaw. blurred tells which examples are blurred.
func (p *Person) FindBest(all []*Example, blurred []bool) {
	p.best = nil
	tilts, widths := make([]float32, len(all)), make([]float32, len(all))
	for i, e := range all {
		tilts[i], widths[i] = e.Shown.Tilt(), e.Shown.Width()
	}
	tilt, width := dsp.Quantile(tilts, .5), dsp.Quantile(widths, .5)
	most, bestApart := float32(0), false
	for i, e := range all {
		m := &e.Shown.Lips
		high := min(m.Gap(), p.Most) - abs(m.Lop()) - abs(m.Tilt()-tilt)*m.Width() // height of the opening, less what a grimace hides on one side
		if blurred[i] || high <= leastInside {
			continue
		}
		seen, end, apart := e.upperTeeth()
		if !seen {
			continue
		}
		shows := high * min(m.Width(), width)
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
	rounder   = .12 // share by which the mesh reads painted lips that are rounded as more open than others with their gap: the median of the nine videos for constants. Their gap becomes so much smaller
	reached   = .67 // rounding of an "oo" of the median voice of the validation: from it on lips are rounded in full
	narrowest = .22 // share of the mouth's width that full rounding takes away: that of "oo" (Abry and Boë, "Laws for lips", 1986)
	unsmiling = .83 // a mouth that smiles counts as no wider than this when it rounds, canonical: mouths are 54.5 and 50.2 mm wide (Farkas, "Anthropometry of the head and face", 1994, men and women), pupils 64.0 and 61.7 mm apart (Dodgson, 2004)
	broadest  = .11 // share of the mouth's width that spread adds; in "ee" it is heard as .6 to .9; by eye
	pout      = .08 // share of the height of the lips that rounding adds; by eye
	press     = .12 // share of the height of the lips that rolls inwards in a closure, if they were apart; by eye
	bite      = .04 // largest gap in f and v, canonical, some 2.5 mm: at rest 1.9 and 3.4 mm of the upper teeth are seen below the lip (Vig and Brundo, "The kinetics of anterior tooth display", 1978, men and women)
)

// Shape returns the shape of the person's mouth in an articulation. width is its width at rest,
// canonical. In silence the lips touch lightly. A smile ends when the mouth rounds.
func (p *Person) Shape(a speech.Articulation, width float32) Shape {
	if a.Closure < 1 { // silence weakens the articulation, unless a closure is complete
		voice := 1 - a.Silence
		a.Closure, a.Labiodental, a.Rounding, a.Spread = voice*a.Closure, voice*a.Labiodental, voice*a.Rounding, voice*a.Spread
	}
	teeth := square(a.Labiodental)            // squared, since the lower lip rises only while it is surely at the teeth
	round := smoothstep(a.Rounding / reached) // the networks give the mean of what may be heard: a low number mostly means no rounding, a high one a full one
	gap := p.Most * a.Opening / (1 + rounder*round)
	gap += (min(gap, bite) - gap) * teeth
	if a.Closure == 1 {
		gap = 0
	}
	narrow := (1 - narrowest) * min(width, unsmiling)
	return Shape{
		Gap:   gap,
		Width: width + (narrow-width)*round + broadest*width*a.Spread,
		round: round,
		Upper: 1 + pout*round,
		Lower: 1 + pout*round,
		hide:  (alignment.Touching + p.Rest) * a.Closure,
		roll:  press * a.Closure,
		tuck:  teeth * (1 - a.Closure),
		far:   float32(p.mask.Expand.Factor() - 1),
	}
}
