package mouth

import (
	"testing"

	"lipsync/internal/sound/speech"
)

// TestShapes checks the shapes of a mouth for articulations.
func TestShapes(t *testing.T) {
	m := someLips(0)
	p := &Person{Most: .2}
	of := func(a speech.Articulation) Shape { return p.Shape(a, m.Width()) }
	rest, vowel := of(speech.Rest), of(speech.Articulation{Opening: 1})
	closed := of(speech.Articulation{Opening: .8, Closure: 1})
	teeth := of(speech.Articulation{Opening: .8, Labiodental: 1})
	doubtful := of(speech.Articulation{Opening: .8, Labiodental: .5})
	round, spread := of(speech.Articulation{Opening: .5, Rounding: 1}), of(speech.Articulation{Opening: .5, Spread: 1})
	for name, ok := range map[string]bool{
		"a vowel opens all the way":                   vowel.Gap == p.Most,
		"silence closes a mouth":                      rest.Gap == 0,
		"closed lips touch":                           closed.Gap == 0,
		"closed lips are pressed together":            closed.roll > 0,
		"the lower lip is at the teeth":               abs(teeth.Gap-bite) < 1e-6 && teeth.tuck == 1,
		"a lip that may be at the teeth hardly rises": doubtful.Gap > .75*.8*p.Most && doubtful.tuck < .3,
		"rounded lips get less gap":                   abs(round.Gap*(1+rounder)-spread.Gap) < 1e-6,
		"an oo rounds in full":                        of(speech.Articulation{Opening: .5, Rounding: reached}) == round,
		"what hardly rounds is hardly round":          of(speech.Articulation{Opening: .5, Rounding: reached / 4}).round < .2,
		"a rounded mouth is narrower than at rest":    round.Width < rest.Width && round.Upper > 1 && round.Lower > 1,
		"a spread mouth is wider":                     spread.Width > rest.Width,
	} {
		if !ok {
			t.Error(name, "doesn't hold")
		}
	}
	noise := speech.Articulation{Silence: 1, Spread: .2, Closure: .9, Rounding: .1}
	if got, want := of(noise), of(speech.Rest); got != want {
		t.Errorf("noise without speech gives the shape %+v, want %+v", got, want)
	}
	if got := of(speech.Articulation{Silence: .7, Closure: 1}); got.Gap != 0 {
		t.Errorf("a closure after a pause leaves a gap of %.3f", got.Gap)
	}
}

// TestSmileRounds checks that a smiling mouth that rounds becomes as narrow as another mouth, and that its
// corners come down. In other sounds the smile is kept.
func TestSmileRounds(t *testing.T) {
	p := &Person{Most: .2}
	round, open := speech.Articulation{Opening: .5, Rounding: 1}, speech.Articulation{Opening: .5}
	neutral, smile := p.Shape(round, unsmiling), p.Shape(round, 1.05)
	if smile.Width != neutral.Width {
		t.Errorf("a rounded smile is %.2f wide, another mouth %.2f", smile.Width, neutral.Width)
	}
	if got := p.Shape(open, 1.05).Width; got != 1.05 {
		t.Errorf("a smile that doesn't round is %.2f wide, want 1.05", got)
	}
	m := tiltedLips(.1, .1, .1)
	for _, c := range []struct {
		shape Shape
		want  float32
	}{{p.Shape(open, m.Width()), m.Left.Y}, {p.Shape(round, m.Width()), m.Level()}} {
		o := OutlineOf(&m, &m, c.shape.Gap)
		s := o.Give(&m, c.shape)
		for _, side := range []float32{-1.001, 1.001} {
			if got := newColumn(&m, s, m.Middle()+side*s.Width/2).to[1]; abs(got-c.want) > .002 {
				t.Errorf("rounded by %g: a corner lies at %.3f, want %.3f", s.round, got, c.want)
			}
		}
	}
}
