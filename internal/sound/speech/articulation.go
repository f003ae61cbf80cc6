package speech

import (
	"math"

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
// closes a vowel for a frame. Readers say an m, b or p in seven so weakly that its Closure stays under .5.
const (
	runOver  = .25
	peakOver = .35
)

// A run of Openings over vowelOver is an open vowel if one is over vowelPeakOver, which narrow vowels and consonants don't reach: see the
// openings of sounds in training/phones.py.
const vowelOver, vowelPeakOver = .4, .5

// Articulation returns the articulation of each hop.
func (s *Speech) Articulation() []Articulation {
	out := make([]Articulation, s.n)
	for i := range out {
		out[i] = Rest
	}
	places := s.spoken()
	if len(places) == 0 {
		return out
	}
	v := s.newVoice(places)
	if v.loud < silent {
		return out
	}
	input := func(k int, x *[inputs]float32) { v.input(x, s.at(places[k])) }
	run(articulationNetwork(), len(places), input, func(k int, y *[outputs]float32) { out[places[k]] = compose(y) })
	filter(out, inertia, func(a *Articulation) *float32 { return &a.Opening })
	for i := range out {
		out[i].Opening *= 1 - square(out[i].Closure) // squared, so that lips close only while a closure is sure
	}
	filter(out, settling, func(a *Articulation) *float32 { return &a.Opening })
	filter(out, protrusion, func(a *Articulation) *float32 { return &a.Rounding })
	filter(out, protrusion, func(a *Articulation) *float32 { return &a.Spread })
	return out
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
// closures are cut out of them, and settling after that. The network can change its outputs at each hop,
// but lips and jaw have mass: they open and close at most some 5 times a second.
const inertia, settling = 2.5, 3

// protrusion is the standard deviation, in hops, of the filter of rounding and spread. Lips protrude more
// slowly than they open, and begin 100 to 300 ms before the sound (Perkell and Matthies, "Temporal
// measures of anticipatory labial coarticulation", 1992).
const protrusion = 3

// compose returns the articulation of y, the network's outputs without the logistic function. The
// network's opening is that of a mouth that isn't closed, so closure and silence are taken off here.
func compose(y *[outputs]float32) Articulation {
	a := Articulation{logistic(y[0]), logistic(y[1]), logistic(y[2]), logistic(y[3]), logistic(y[4]), logistic(y[5])}
	a.Opening *= (1 - a.Closure) * (1 - a.Silence)
	return a
}

func logistic(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }

// ArticulationAt returns the articulation in the middle of each of n frames. Each closure closes at least
// one frame, at any frame rate: the Closure of that frame is 1, and its Opening is 0.
func (s *Speech) ArticulationAt(fps float64, n int) []Articulation {
	hops, out := s.Articulation(), make([]Articulation, n)
	for i := range out {
		out[i] = at(hops, (float64(i)+.5)/fps*HopRate)
	}
	for _, c := range Closures(hops) {
		if i := int(float64(c.Peak) / HopRate * fps); i < n { // the frame whose middle is nearest
			out[i].Closure, out[i].Opening, out[i].Labiodental = 1, 0, 0
		}
	}
	return out
}

// at returns the articulation at a time in hops, linear between hops, and Rest beyond the last.
func at(hops []Articulation, time float64) Articulation {
	i := int(time)
	if i >= len(hops) {
		return Rest
	}
	a, b, t := hops[i], hops[min(i+1, len(hops)-1)], float32(time-float64(i))
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
func Closures(all []Articulation) []Run {
	return runs(all, func(a Articulation) float32 { return a.Closure }, runOver, peakOver)
}

// OpenVowels returns the vowels for which a mouth opens wide, in the articulation of hops or frames.
func OpenVowels(all []Articulation) []Run {
	return runs(all, func(a Articulation) float32 { return a.Opening }, vowelOver, vowelPeakOver)
}

// runs returns the runs in which a number is over a value, and over another one at its peak.
func runs(all []Articulation, number func(Articulation) float32, over, peakOver float32) (found []Run) {
	for from := 0; from < len(all); from++ {
		r := Run{from, from, from}
		for ; r.To < len(all) && number(all[r.To]) > over; r.To++ {
			if number(all[r.To]) > number(all[r.Peak]) {
				r.Peak = r.To
			}
		}
		if r.To > from && number(all[r.Peak]) > peakOver {
			found = append(found, r)
		}
		from = r.To
	}
	return found
}

func square(x float32) float32 { return x * x }
