package speaker

import (
	"math"

	"lipsync/internal/face/registration"
	"lipsync/internal/signal/dsp"
	"lipsync/internal/sound/speech"
)

// The constants of this file were chosen by drawn scenes and clips of people who speak in turn, nod,
// smile and move their lips out of step with the sound. TestActive and TestScenes have such scenes.

// voice has the loudness of the video's own sound in each frame of a shot, from 0, where no one is
// heard, to 1. It is nil if the sound is missing or too low to tell anything.
type voice []float32

// Levels of speech, in dB of speech.LevelsAt.
const (
	loudLevel     = .95 // this quantile of the levels of a shot counts as its loudest
	leastLoud     = -20 // a shot whose loudest level is lower has no speech; about -55 dBFS
	quietLevel    = -25 // up to this level, relative to the loudest, no one is heard
	speakingLevel = -10 // from this level on, relative to the loudest, someone surely is heard
)

// newVoice returns the voice of a shot, whose frames are from up to, but not including, to. The sound
// is that of the whole video, and may be nil. fps is its frame rate.
func newVoice(sound *speech.Speech, fps float64, from, to int) voice {
	if sound == nil {
		return nil
	}
	levels := sound.LevelsAt(fps, from, to)
	loud := dsp.Quantile(levels, loudLevel)
	if loud < leastLoud {
		return nil
	}
	for i, level := range levels {
		levels[i] = min(max((level-loud-quietLevel)/(speakingLevel-quietLevel), 0), 1)
	}
	return levels
}

// The motion of mouths, as half.motion measures it.
const (
	restingMotion  = .04  // of a mouth at rest: .01 to .05
	speakingMotion = .13  // of a mouth that surely speaks: .05 to .3
	motionMedian   = 3    // frames of the median that drops single readings
	motionSmooth   = .12  // standard deviation of the filter of motion, in seconds: half a syllable
	motionAround   = 1.25 // seconds before and after a frame in which motion and voice are correlated
)

// The network's scores.
const (
	muteScore     = -2.5 // of a face that doesn't speak
	speakingScore = 1.5  // of a face that surely speaks
)

// The weights of the evidence, which is about 1 for a frame of speech.
const (
	motionToo   = .3  // of motion in step with the voice, if there is a network too
	agreement   = .7  // of the correlation of motion and voice around a frame in which the mouth moves
	quietMotion = .05 // of motion while no one is heard
	quietScore  = .3  // of the network's score while no one is heard: it is late by some frames, or the voice is faint
	sizeWeight  = .02 // of the size: the largest face speaks if nothing else decides

	// sameSize is the smallest ratio of the sizes of two faces that count as equally large. Sizes err
	// by some per cent.
	sameSize = .9
)

// scoring returns the network's score of a track in a frame of the shot. It is nil without a
// network.
type scoring func(track int32, frame int) float32

// weigh sets for each frame of each track the evidence that it speaks.
func (s *shot) weigh(v voice, score scoring) {
	largest := s.largest()
	for _, t := range s.tracks {
		t.active, t.usual = t.activity(s.fps), dsp.Quantile(t.size, .5)
	}
	for _, t := range s.tracks {
		var with, larger []float32
		if v == nil {
			larger = s.largerActivity(t)
		} else {
			with = t.agreement(v, s.fps)
		}
		t.evidence = make([]float32, len(t.active))
		for i, active := range t.active {
			k := t.from + i
			size := min(t.size[i]/max(sameSize*largest[k], 1e-9), 1)
			var e float32
			switch {
			case v == nil:
				e = active * (1 - larger[i])
			case score == nil:
				e = active*(v[k]+quietMotion) + agreement*active*with[i]
			default:
				p := min(max((score(t.number, k)-muteScore)/(speakingScore-muteScore), 0), 1)
				e = p*max(v[k], quietScore) + motionToo*active*(v[k]+quietMotion) + agreement*active*with[i]
			}
			if e += sizeWeight * size; e == e { // without a size it is NaN, which is no evidence
				t.evidence[i] = e / float32(s.fps)
			}
		}
	}
}

// largest returns the size of each frame's largest face, in pixels.
func (s *shot) largest() []float32 {
	sizes := make([]float32, s.frames)
	for _, t := range s.tracks {
		for i, size := range t.size {
			sizes[t.from+i] = max(sizes[t.from+i], size)
		}
	}
	return sizes
}

// largerActivity returns for each frame of a track the highest activity of the mouths of larger faces.
// If two faces have nearly the same size, the median of all frames decides which is larger.
func (s *shot) largerActivity(t *track) []float32 {
	most := make([]float32, len(t.active))
	for _, o := range s.tracks {
		for k := max(t.from, o.from); k < min(t.to(), o.to()); k++ {
			i, j := k-t.from, k-o.from
			larger := sameSize*o.size[j] > t.size[i] || sameSize*t.size[i] <= o.size[j] && o.usual > t.usual
			if larger && o.seen(k) {
				most[i] = max(most[i], o.active[j])
			}
		}
	}
	return most
}

// activity returns the motion of the mouth around each frame, on a logarithmic scale from 0, at rest,
// to 1, where it surely speaks.
func (t *track) activity(fps float64) []float32 {
	out := dsp.Gaussian(dsp.Median(t.motion, motionMedian), motionSmooth*fps)
	for i, m := range out {
		out[i] = float32(math.Log(float64(min(max(m, restingMotion), speakingMotion)/restingMotion)) / math.Log(speakingMotion/restingMotion))
	}
	return out
}

// agreement returns for each frame the correlation of the mouth's activity with the voice around it.
// It is 0 if one of them doesn't change.
func (t *track) agreement(v voice, fps float64) []float32 {
	out := make([]float32, len(t.active))
	around := int(motionAround*fps) + 1
	for i := range out {
		from, to := max(i-around, 0), min(i+around+1, len(out))
		out[i] = registration.NCC(t.active[from:to], v[t.from+from:t.from+to])
	}
	return out
}
