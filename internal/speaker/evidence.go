package speaker

import (
	"math"

	"lipsync/internal/dsp"
	"lipsync/internal/registration"
	"lipsync/internal/speech"
)

// voice is how loud the source's own sound is in the frames of a shot: 0 where
// no one can be heard, to 1. It is nil where there is nothing to go by.
type voice []float32

const (
	inaudible = -20 // dB, under which no one speaks in a whole shot
	quiet     = -25 // dB against the loudest of the shot, where no one is heard
	certain   = -10 // the same where someone surely is
)

func newVoice(sound *speech.Speech, fps float64, from, to int) voice {
	if sound == nil {
		return nil
	}
	frames := make([]int, to-from)
	for i := range frames {
		frames[i] = from + i
	}
	levels := sound.LevelsAt(fps, frames)
	loud := dsp.Quantile(levels, .95)
	if loud < inaudible {
		return nil
	}
	for i, level := range levels {
		levels[i] = min(max((level-loud-quiet)/(certain-quiet), 0), 1)
	}
	return levels
}

const (
	calm   = .04 // motion of a mouth at rest
	lively = .13 // and of one that surely speaks

	// The network's scores of faces that don't speak, and that surely do.
	mute, speaking = -2.5, 1.5

	// The weights of the evidence.
	motionToo = .3  // where the network tells, too
	agreement = .7  // of motion and voice over a while, where the mouth moves
	hushed    = .05 // motion while no one is heard
	unsure    = .3  // the network while no one is heard: it is late by some frames, or the voice is faint
	largeness = .02 // being the largest

	alike = .9 // sizes of faces are, by this: they err by some per cent
)

// scoring returns the network's score of a track in a frame of the shot; nil
// without a network.
type scoring func(track int32, frame int) float32

// weigh finds the evidence that each track speaks in each frame.
func (s *shot) weigh(v voice, score scoring) {
	largest := s.largest()
	for _, t := range s.tracks {
		t.lively, t.usual = t.liveliness(s.fps), dsp.Quantile(t.size, .5)
	}
	for _, t := range s.tracks {
		var with, upstaged []float32
		if v == nil {
			upstaged = s.upstaged(t)
		} else {
			with = t.agreement(v, s.fps)
		}
		t.evidence = make([]float32, len(t.lively))
		for i, l := range t.lively {
			k := t.from + i
			size := min(t.size[i]/max(alike*largest[k], 1e-9), 1)
			var e float32
			switch {
			case v == nil:
				e = l * (1 - upstaged[i])
			case score == nil:
				e = l*(v[k]+hushed) + agreement*l*with[i]
			default:
				p := min(max((score(t.number, k)-mute)/(speaking-mute), 0), 1)
				e = p*max(v[k], unsure) + motionToo*l*(v[k]+hushed) + agreement*l*with[i]
			}
			if e += largeness * size; e == e { // where the size is not a number, there is none
				t.evidence[i] = e / float32(s.fps)
			}
		}
	}
}

// largest returns the size of each frame's largest face.
func (s *shot) largest() []float32 {
	sizes := make([]float32, s.frames)
	for _, t := range s.tracks {
		for i, size := range t.size {
			sizes[t.from+i] = max(sizes[t.from+i], size)
		}
	}
	return sizes
}

// upstaged returns how lively the liveliest mouth of a larger face is in each frame of a
// track. Of two faces of about one size, the larger is the one that usually is.
func (s *shot) upstaged(t *track) []float32 {
	most := make([]float32, len(t.lively))
	for _, o := range s.tracks {
		for k := max(t.from, o.from); k < min(t.to(), o.to()); k++ {
			i, j := k-t.from, k-o.from
			larger := alike*o.size[j] > t.size[i] || alike*t.size[i] <= o.size[j] && o.usual > t.usual
			if larger && o.seen(k) {
				most[i] = max(most[i], o.lively[j])
			}
		}
	}
	return most
}

// liveliness returns how much the mouth moves around each frame, from 0 for one at rest
// to 1.
func (t *track) liveliness(fps float64) []float32 {
	out := dsp.Gaussian(dsp.Median(t.motion, 3), .12*fps)
	for i, m := range out {
		out[i] = float32(math.Log(float64(min(max(m, calm), lively)/calm)) / math.Log(lively/calm))
	}
	return out
}

// agreement returns the correlation of the mouth's motion with the voice around each
// frame: 0 where either doesn't change.
func (t *track) agreement(v voice, fps float64) []float32 {
	out := make([]float32, len(t.lively))
	around := int(1.25*fps) + 1
	for i := range out {
		from, to := max(i-around, 0), min(i+around+1, len(out))
		out[i] = registration.NCC(t.lively[from:to], v[t.from+from:t.from+to])
	}
	return out
}
