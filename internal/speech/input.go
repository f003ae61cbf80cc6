package speech

import (
	"lipsync/internal/dsp"
)

// silent is the level in dB, of the power of a window, under which no one
// speaks: about -55 dBFS.
const silent = -20

// voice is what a track's hops are compared with, so that neither the gain nor
// the microphone matters.
type voice struct {
	loud float32        // the level of loud speech, dB
	mean [bands]float32 // of each band while someone speaks, dB
}

// spoken returns the hops within a second of a sound. What is loud is a quantile
// of these: long silences say nothing of a voice.
func (s *Speech) spoken() (hops []int) {
	next := 0
	for i, h := range s.hops {
		if h.level < silent {
			continue
		}
		for next = max(next, i-HopRate); next < min(i+HopRate, len(s.hops)); next++ {
			hops = append(hops, next)
		}
	}
	return hops
}

// newVoice measures the given hops, at least one.
func (s *Speech) newVoice(hops []int) (v voice) {
	levels := make([]float32, len(hops))
	for k, i := range hops {
		levels[k] = s.hops[i].level
	}
	v.loud = dsp.Quantile(levels, .95)
	var sum [bands]float64
	count := 0
	for _, i := range hops {
		if h := &s.hops[i]; h.level > v.loud-30 {
			count++
			for b, m := range h.mel {
				sum[b] += float64(max(m, v.loud-62))
			}
		}
	}
	for b := range sum {
		v.mean[b] = float32(sum[b] / float64(count))
	}
	return v
}

// input fills x with what the network sees of a hop.
func (v *voice) input(x *[inputs]float32, h *hopFeatures) {
	for b, m := range h.mel {
		x[b] = min(max((max(m, v.loud-62)-v.mean[b])/10, -4.5), 2.5)
	}
	x[bands] = min(max((h.level-v.loud)/20, -3), .3)
}
