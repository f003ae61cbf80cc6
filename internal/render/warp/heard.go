package warp

import (
	"lipsync/internal/face/registration"
	"lipsync/internal/render/warp/mouth"
	"lipsync/internal/sound/speech"
)

// The video's own sound says what a person articulates in each frame, if the sound is in step with
// the mouth.
const (
	lagMost = .08 // largest lag of the sound, in seconds: people see a larger one as out of step (ITU-R BT.1359)

	// By chance, the correlation of n independent pairs has a standard deviation of 1/√n. The
	// correlation of mouth and sound has to be deviations times that. Mouths make some 8
	// independent movements a second (Chandrasekaran and others, "The natural statistics of
	// audiovisual speech", 2009).
	deviations = 3
	movements  = 8

	// spreadWeight is the weight of spread, which a mouth shows less than the other articulations. By eye.
	spreadWeight = .5
)

// label sets heard of each of the person's examples to the articulation of the video's own sound in
// its frame, if the sound is in step with the mouth. The argument heard has the articulation of each
// frame of the video. Only frames in which the person speaks count.
func (p *person) label(heard []speech.Articulation, fps float64, speaks func(frame int) bool) error {
	if len(heard) == 0 {
		return nil
	}
	gaps := make([][]float32, len(p.tracks))
	for i, t := range p.tracks {
		if err := t.each(func(_ int, o *mouth.Observation) { gaps[i] = append(gaps[i], o.Gap()) }); err != nil {
			return err
		}
	}
	best, lag := float32(0), 0
	most := int(lagMost * fps)
	for l := -most; l <= most; l++ {
		if r := p.agreement(gaps, heard, fps, l, speaks); r > best {
			best, lag = r, l
		}
	}
	if best < deviations {
		return nil
	}
	for i := range p.bank.examples {
		e := &p.bank.examples[i]
		frame := e.track.first + e.frame
		if at := frame + lag; at >= 0 && at < len(heard) && speaks(frame) {
			e.heard = &heard[at]
		}
	}
	return nil
}

// agreement returns the correlation of the gap between the person's lips with the opening that is
// heard lag frames later, as a multiple of the standard deviation that it has by chance. all has the gap in each frame of each track.
func (p *person) agreement(all [][]float32, heard []speech.Articulation, fps float64, lag int, speaks func(frame int) bool) float32 {
	var gaps, openings []float32
	for n, t := range p.tracks {
		for i, gap := range all[n] {
			if at := t.first + i + lag; at >= 0 && at < len(heard) && speaks(t.first+i) {
				gaps, openings = append(gaps, gap), append(openings, heard[at].Opening)
			}
		}
	}
	if len(gaps) == 0 {
		return 0
	}
	return registration.NCC(gaps, openings) * sqrt(float32(len(gaps))/float32(fps)*movements)
}

// unlikeSound returns the cost of showing a mouth with the articulation b in a frame that needs a:
// their squared differences, without the opening, which the gap already tells.
func unlikeSound(a, b *speech.Articulation) float32 {
	return square(a.Closure-b.Closure) + square(a.Labiodental-b.Labiodental) + square(a.Rounding-b.Rounding) + spreadWeight*square(a.Spread-b.Spread)
}
