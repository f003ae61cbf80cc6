package warp

import (
	"math"

	"lipsync/internal/speech"
)

// The source's own sound tells what a person says in each frame, if it is the
// person's voice: then mouth and sound go together, at most two frames apart.
const (
	inStep  = .3 // correlation of gap and heard opening
	lagMost = 2  // frames
)

// hear labels the person's examples with what the source's own sound says in their
// frames (of the video, one each), if it is in step with the mouth.
func (p *person) hear(heard []speech.Articulation) {
	best, lag := float32(0), 0
	for l := -lagMost; l <= lagMost; l++ {
		if r := p.agreement(heard, l); r > best {
			best, lag = r, l
		}
	}
	if best < inStep {
		return
	}
	for i := range p.bank.examples {
		e := &p.bank.examples[i]
		if at := e.track.first + e.frame + lag; at >= 0 && at < len(heard) {
			e.heard = &heard[at]
		}
	}
}

// agreement returns the correlation of the gap between the person's lips with the
// opening heard a lag of frames later.
func (p *person) agreement(heard []speech.Articulation, lag int) float32 {
	var n, x, y, xx, yy, xy float64
	for _, t := range p.tracks {
		for i := range t.frames {
			at := t.first + i + lag
			if at < 0 || at >= len(heard) {
				continue
			}
			a, b := float64(t.frames[i].gap()), float64(heard[at].Opening)
			n, x, y, xx, yy, xy = n+1, x+a, y+b, xx+a*a, yy+b*b, xy+a*b
		}
	}
	if scale := math.Sqrt((n*xx - x*x) * (n*yy - y*y)); scale > 0 {
		return float32((n*xy - x*y) / scale)
	}
	return 0
}

// unlikeSound is the cost of showing a mouth that said something else: the squared
// differences of what a gap and a width don't tell.
func unlikeSound(a, b *speech.Articulation) float32 {
	return sq(a.Closure-b.Closure) + sq(a.Labiodental-b.Labiodental) + sq(a.Rounding-b.Rounding) + sq(a.Spread-b.Spread)/2
}
