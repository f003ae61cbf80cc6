package warp

import (
	"lipsync/internal/registration"
	"lipsync/internal/speech"
)

// The video's own sound tells what a person says in each frame, if mouth and sound go together.
const (
	lagMost = .08 // seconds between them, at most: more is seen as out of step (ITU-R BT.1359)

	// By chance, the correlation of n independent pairs has a standard deviation of 1/√n. It has
	// to be three times that. Mouths make some 8 independent movements a second (Chandrasekaran
	// and others, "The natural statistics of audiovisual speech", 2009).
	deviations = 3
	movements  = 8

	// spreadWeight is the weight of spread, which a mouth shows less than the other sounds. By eye.
	spreadWeight = .5
)

// label tells each of the person's examples what the video's own sound says in its frame, if the
// sound is in step with the mouth. heard has the articulation of each frame of the video. Only
// frames in which the person speaks count.
func (p *person) label(heard []speech.Articulation, fps float64, speaks func(frame int) bool) {
	best, lag := float32(0), 0
	most := int(lagMost * fps)
	for l := -most; l <= most; l++ {
		if r := p.agreement(heard, fps, l, speaks); r > best {
			best, lag = r, l
		}
	}
	if best < deviations {
		return
	}
	for i := range p.bank.examples {
		e := &p.bank.examples[i]
		frame := e.track.first + e.frame
		if at := frame + lag; at >= 0 && at < len(heard) && speaks(frame) {
			e.heard = &heard[at]
		}
	}
}

// agreement returns the correlation of the gap between the person's lips with the opening that is
// heard a lag of frames later, as a multiple of its standard deviation by chance.
func (p *person) agreement(heard []speech.Articulation, fps float64, lag int, speaks func(frame int) bool) float32 {
	var gaps, openings []float32
	for _, t := range p.tracks {
		for i := range t.frames {
			if at := t.first + i + lag; at >= 0 && at < len(heard) && speaks(t.first+i) {
				gaps, openings = append(gaps, t.frames[i].gap()), append(openings, heard[at].Opening)
			}
		}
	}
	if len(gaps) == 0 {
		return 0
	}
	return registration.NCC(gaps, openings) * sqrt(float32(len(gaps))/float32(fps)*movements)
}

// unlikeSound returns the cost of showing a mouth that said b where it has to say a: the squared
// differences of what a gap and a width don't tell.
func unlikeSound(a, b *speech.Articulation) float32 {
	return square(a.Closure-b.Closure) + square(a.Labiodental-b.Labiodental) + square(a.Rounding-b.Rounding) + spreadWeight*square(a.Spread-b.Spread)
}
