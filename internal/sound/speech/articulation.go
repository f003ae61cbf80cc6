package speech

import (
	"math"
	"slices"

	"lipsync/internal/signal/dsp"
)

// Articulation describes a speaker's mouth at one moment. Each number is from 0 to 1.
type Articulation struct {
	Opening     float32 // of the lips and the jaw, from closed to that of a wide "a"
	Closure     float32 // the lips touch, as in m, b and p
	Labiodental float32 // the lower lip is at the upper teeth, as in f and v
	Rounding    float32 // the lips are narrow and protrude, as in "oo" and "sh"
	Spread      float32 // the mouth is wide, as in "ee" and s
	Silence     float32 // no one speaks
}

// Rest is the articulation of a person who doesn't speak.
var Rest = Articulation{Silence: 1}

// A run of hops whose Closure is over runOver is a closure if it is over peakOver somewhere. A closure that is missed is seen; a false one
// closes a vowel for a frame. Readers say an m, b or p in five or six so weakly that its Closure stays under .5.
const (
	runOver  = .25
	peakOver = .35
)

// sure is the Closure from which on lips are shut. By eye and by the figures of make quality, on the people for constants.
const sure = .6

// touching is the time for which lips touch at least, in seconds. Speakers of English close p and b for 60 to 70 ms on average (Byrd, "54,000 American
// stops", 1993).
const touching = .05

// A run of Openings over vowelOver is an open vowel if one is over vowelPeakOver, which narrow vowels and consonants don't reach: see the
// openings of sounds in training/phones.py.
const vowelOver, vowelPeakOver = .4, .5

// Articulation calls next with the articulation of each hop.
func (s *Speech) Articulation(next func(Articulation)) error {
	spoken, features := s.spoken(), newFeatureReader(s.features)
	smoothed := smoother{next: next}
	passed := 0 // number of hops
	rest := func(to int) {
		for ; passed < to; passed++ {
			smoothed.add(Rest)
		}
	}
	if len(spoken) > 0 {
		if v := s.newVoice(spoken, features); v.loud >= silent {
			input := func(k int, x *[inputs]float32) { v.input(x, features.at(spoken.hop(k))) }
			articulationNetworks().run(spoken.count(), input, func(k int, y *[outputs]float32) {
				rest(spoken.hop(k))
				smoothed.add(compose(y))
				passed++
			})
		}
	}
	rest(len(s.levels))
	smoothed.end()
	return features.err
}

// smoother passes articulations on after the filters of lips and jaw.
type smoother struct {
	next   func(Articulation)
	hops   []Articulation // those that were not passed on, after some that were
	passed int            // number of the latter
}

const (
	// smoothHops is the number of hops that are filtered at once, so that memory is bounded.
	smoothHops = 4096
	// smoothReach is the number of hops to each side on which a filtered one depends.
	smoothReach = 2 * dsp.Reach * max(inertia, settling, protrusion)
)

func (s *smoother) add(a Articulation) {
	s.hops = append(s.hops, a)
	if len(s.hops) == s.passed+smoothHops+smoothReach {
		s.pass(smoothHops)
	}
}

// end passes on the hops that are left.
func (s *smoother) end() { s.pass(len(s.hops) - s.passed) }

// pass passes n hops on, and keeps those that later ones depend on.
func (s *smoother) pass(n int) {
	for _, a := range smooth(slices.Clone(s.hops))[s.passed : s.passed+n] {
		s.next(a)
	}
	s.passed += n
	gone := max(s.passed-smoothReach, 0)
	s.hops = append(s.hops[:0], s.hops[gone:]...)
	s.passed -= gone
}

// smooth filters the articulation of hops in place, and returns it.
func smooth(hops []Articulation) []Articulation {
	filter(hops, inertia, func(a *Articulation) *float32 { return &a.Opening })
	for i := range hops {
		hops[i].Opening *= 1 - square(min(hops[i].Closure/sure, 1)) // squared, so that lips don't close for what is hardly one
	}
	filter(hops, settling, func(a *Articulation) *float32 { return &a.Opening })
	filter(hops, protrusion, func(a *Articulation) *float32 { return &a.Rounding })
	filter(hops, protrusion, func(a *Articulation) *float32 { return &a.Spread })
	return hops
}

// filter applies a Gaussian with a standard deviation in hops to one of the numbers.
func filter(hops []Articulation, deviation float64, number func(*Articulation) *float32) {
	values := make([]float32, len(hops))
	for i := range hops {
		values[i] = *number(&hops[i])
	}
	for i, v := range dsp.Gaussian(values, deviation) {
		*number(&hops[i]) = v
	}
}

// inertia and settling are the standard deviations, in hops, of two filters of openings: inertia before
// closures are cut out of them, and settling after that. The networks can change their outputs at each hop,
// but lips and jaw have mass: they open and close at most some 5 times a second.
const inertia, settling = 2.5, 3

// protrusion is the standard deviation, in hops, of the filter of rounding and spread. Lips protrude more
// slowly than they open, and begin 100 to 300 ms before the sound (Perkell and Matthies, "Temporal
// measures of anticipatory labial coarticulation", 1992).
const protrusion = 3

// compose returns the articulation of the outputs of the networks. Their opening is that of a mouth
// that isn't closed, so closure and silence are taken off here. In silence no lip lies at the teeth either.
func compose(y *[outputs]float32) Articulation {
	a := Articulation{y[0], y[1], y[2], y[3], y[4], y[5]}
	a.Opening *= (1 - a.Closure) * (1 - a.Silence)
	a.Labiodental *= 1 - a.Silence
	return a
}

func logistic(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }

// ArticulationAt returns the articulation in the middle of each of n frames. Each closure closes the frame that is nearest, at any frame rate, and those
// within the time that lips touch at least: their Closure is 1, and their Opening is 0.
func (s *Speech) ArticulationAt(fps float64, n int) ([]Articulation, error) {
	f := newFrames(fps, n)
	if err := s.Articulation(f.add); err != nil {
		return nil, err
	}
	return f.end(), nil
}

// frames makes the articulation of frames from that of hops, which it gets one by one.
type frames struct {
	fps      float64
	all      []Articulation // as many as its capacity at the end
	hop      int            // number of the last hop
	last     Articulation   // that hop
	closures runs
}

func newFrames(fps float64, n int) *frames {
	return &frames{fps: fps, all: make([]Articulation, 0, n), hop: -1, closures: closures}
}

func (f *frames) add(hop Articulation) {
	f.fill(hop)
	f.hop, f.last = f.hop+1, hop
	f.closures.add(hop)
}

// fill adds the frames whose middle is between the last hop and the one that follows it, by linear interpolation.
func (f *frames) fill(following Articulation) {
	for len(f.all) < cap(f.all) {
		time := (float64(len(f.all)) + .5) / f.fps * HopRate
		if int(time) > f.hop {
			return
		}
		f.all = append(f.all, f.last.lerp(following, float32(time-float64(f.hop))))
	}
}

// end returns the frames after the last hop. Frames beyond it are at rest.
func (f *frames) end() []Articulation {
	if f.hop >= 0 {
		f.fill(f.last)
	}
	for len(f.all) < cap(f.all) {
		f.all = append(f.all, Rest)
	}
	for _, c := range f.closures.end() {
		peak, half := float64(c.Peak)/HopRate*f.fps, touching/2*f.fps // in frames
		nearest := int(peak)                                          // its middle is nearest to the peak
		for i := max(min(nearest, int(math.Ceil(peak-half-.5))), 0); i <= max(nearest, int(math.Floor(peak+half-.5))) && i < len(f.all); i++ {
			f.all[i].Closure, f.all[i].Opening, f.all[i].Labiodental = 1, 0, 0
		}
	}
	return f.all
}

// lerp returns the articulation that is t of the way from a to b.
func (a Articulation) lerp(b Articulation, t float32) Articulation {
	between := func(a, b float32) float32 { return a + (b-a)*t }
	return Articulation{
		Opening:     between(a.Opening, b.Opening),
		Closure:     between(a.Closure, b.Closure),
		Labiodental: between(a.Labiodental, b.Labiodental),
		Rounding:    between(a.Rounding, b.Rounding),
		Spread:      between(a.Spread, b.Spread),
		Silence:     between(a.Silence, b.Silence),
	}
}

// Run is a part of a list of articulations, with the place of its highest value.
type Run struct{ From, To, Peak int }

// Closures returns the closures in the articulation of hops or frames.
func Closures(all []Articulation) []Run { return closures.in(all) }

// OpenVowels returns the vowels for which a mouth opens wide, in the articulation of hops or frames.
func OpenVowels(all []Articulation) []Run { return openVowels.in(all) }

var (
	closures   = runs{number: func(a Articulation) float32 { return a.Closure }, over: runOver, peakOver: peakOver}
	openVowels = runs{number: func(a Articulation) float32 { return a.Opening }, over: vowelOver, peakOver: vowelPeakOver}
)

// runs finds the runs in which a number is over a value, and over another one at its peak. It gets articulations one by one.
type runs struct {
	number         func(Articulation) float32
	over, peakOver float32

	at    int     // number of articulations so far
	now   Run     // ends at the last of them; empty if that is not over the value
	peak  float32 // of now
	found []Run
}

func (r *runs) add(a Articulation) {
	v := r.number(a)
	if !(v > r.over) {
		r.end()
		r.at++
		return
	}
	if r.now.From == r.now.To {
		r.now, r.peak = Run{r.at, r.at, r.at}, v
	}
	if v > r.peak {
		r.now.Peak, r.peak = r.at, v
	}
	r.at++
	r.now.To = r.at
}

// end ends the last run, and returns all.
func (r *runs) end() []Run {
	if r.now.To > r.now.From && r.peak > r.peakOver {
		r.found = append(r.found, r.now)
	}
	r.now = Run{}
	return r.found
}

// in returns the runs of a list. It leaves r as it is.
func (r runs) in(all []Articulation) []Run {
	for _, a := range all {
		r.add(a)
	}
	return r.end()
}

func square(x float32) float32 { return x * x }
