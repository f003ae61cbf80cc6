package speech

import (
	"sort"

	"lipsync/internal/signal/dsp"
)

// silent is a level in dB, about -55 dBFS. Sound below it is no speech.
const silent = -20

// The networks' inputs are levels in dB relative to those of the voice, scaled and limited. They
// learned with these numbers; training/features.py has the same ones.
const (
	loudest    = .95 // the level of loud speech is this quantile of the levels while someone speaks
	speechOver = -30 // dB relative to loud speech: hops over it count for the mean of each band
	bandFloor  = -62 // dB relative to loud speech: a band that is lower counts as this

	bandScale           = 10        // dB to a unit of input
	bandLeast, bandMost = -4.5, 2.5 // units

	levelScale            = 20     // dB to a unit of input
	levelLeast, levelMost = -3, .3 // units
)

// voice holds levels of a speech track. The networks' inputs are relative to them, so that neither the
// gain nor the microphone matters.
type voice struct {
	loud float32        // the level of loud speech, dB
	mean [bands]float32 // of each band while someone speaks, dB
}

// stretch is hops without a gap.
type stretch struct {
	from, to int
	before   int // number of hops in the stretches before
}

// stretches are some of the hops of a track, in ascending order. They are counted from 0.
type stretches []stretch

// count returns the number of hops.
func (all stretches) count() int {
	if len(all) == 0 {
		return 0
	}
	last := all[len(all)-1]
	return last.before + last.to - last.from
}

// hop returns the hop with a number.
func (all stretches) hop(k int) int {
	i := sort.Search(len(all), func(i int) bool { return all[i].before > k }) - 1
	return all[i].from + k - all[i].before
}

// spoken returns the hops within a second of a sound. The levels of a voice are measured in these only,
// so that long silences don't count.
func (s *Speech) spoken() (all stretches) {
	for i, level := range s.levels {
		if level < silent {
			continue
		}
		from, to := max(i-HopRate, 0), min(i+HopRate, len(s.levels))
		if n := len(all) - 1; n >= 0 && from <= all[n].to {
			all[n].to = to
		} else {
			all = append(all, stretch{from, to, all.count()})
		}
	}
	return all
}

// newVoice returns the voice of the given hops, at least one.
func (s *Speech) newVoice(spoken stretches, features *featureReader) (v voice) {
	levels := make([]float32, 0, spoken.count())
	for _, part := range spoken {
		levels = append(levels, s.levels[part.from:part.to]...)
	}
	v.loud = dsp.Quantile(levels, loudest)
	var sum [bands]float64
	count := 0
	for _, part := range spoken {
		for i := part.from; i < part.to; i++ {
			if s.levels[i] <= v.loud+speechOver {
				continue
			}
			count++
			for b, m := range features.at(i).mel {
				sum[b] += float64(max(m, v.loud+bandFloor))
			}
		}
	}
	for b := range sum {
		v.mean[b] = float32(sum[b] / float64(count))
	}
	return v
}

// input fills x with the networks' inputs for a hop: the bands, then the level.
func (v *voice) input(x *[inputs]float32, h *hopFeatures) {
	for b, m := range h.mel {
		x[b] = min(max((max(m, v.loud+bandFloor)-v.mean[b])/bandScale, bandLeast), bandMost)
	}
	x[bands] = min(max((h.level-v.loud)/levelScale, levelLeast), levelMost)
}
