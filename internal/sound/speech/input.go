package speech

import (
	"lipsync/internal/signal/dsp"
)

// silent is a level in dB, about -55 dBFS. Sound below it is no speech.
const silent = -20

// The network's inputs are levels in dB relative to those of the voice, scaled and limited. It was
// trained with these numbers; training/features.py has the same ones.
const (
	loudest    = .95 // the level of loud speech is this quantile of the levels while someone speaks
	speechOver = -30 // dB relative to loud speech: hops over it count for the mean of each band
	bandFloor  = -62 // dB relative to loud speech: a band that is lower counts as this

	bandScale           = 10        // dB to a unit of input
	bandLeast, bandMost = -4.5, 2.5 // units

	levelScale            = 20     // dB to a unit of input
	levelLeast, levelMost = -3, .3 // units
)

// voice holds levels of a speech track. The network's inputs are relative to them, so that neither the
// gain nor the microphone matters.
type voice struct {
	loud float32        // the level of loud speech, dB
	mean [bands]float32 // of each band while someone speaks, dB
}

// spoken returns the hops within a second of a sound. The levels of a voice are measured in these only,
// so that long silences don't count.
func (s *Speech) spoken() (hops []int) {
	next := 0
	for i := range s.n {
		if s.at(i).level < silent {
			continue
		}
		for next = max(next, i-HopRate); next < min(i+HopRate, s.n); next++ {
			hops = append(hops, next)
		}
	}
	return hops
}

// newVoice returns the voice of the given hops, at least one.
func (s *Speech) newVoice(hops []int) (v voice) {
	levels := make([]float32, len(hops))
	for k, i := range hops {
		levels[k] = s.at(i).level
	}
	v.loud = dsp.Quantile(levels, loudest)
	var sum [bands]float64
	count := 0
	for _, i := range hops {
		if h := s.at(i); h.level > v.loud+speechOver {
			count++
			for b, m := range h.mel {
				sum[b] += float64(max(m, v.loud+bandFloor))
			}
		}
	}
	for b := range sum {
		v.mean[b] = float32(sum[b] / float64(count))
	}
	return v
}

// input fills x with the network's inputs for a hop: the bands, then the level.
func (v *voice) input(x *[inputs]float32, h *hopFeatures) {
	for b, m := range h.mel {
		x[b] = min(max((max(m, v.loud+bandFloor)-v.mean[b])/bandScale, bandLeast), bandMost)
	}
	x[bands] = min(max((h.level-v.loud)/levelScale, levelLeast), levelMost)
}
