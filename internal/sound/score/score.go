// Package score measures how well the mouths of a video move with a speech track. It uses only the pixels of the mouths and the samples
// of the speech. So it knows nothing of how an engine chose the mouths.
//
// Up to sixteen numbers for each frame say how a mouth differs from its usual look, and one curve says how far the speech opens a mouth. If the
// mouths belong to the speech, a weighted sum of these numbers follows the curve. The multiple correlation R of both is computed at each
// lag. A speech that has nothing to do with the mouths has some R too. How much, is known from curves with the same
// pauses and about the same spectrum, but with random phases.
package score

import (
	"math"
	"slices"

	"lipsync/internal/signal/dsp"
)

// Frame is one frame of the video, with a mouth in it that was synced.
type Frame struct {
	Number int // in the video; frames are in the order of their numbers
	Person int // whose mouth it is
	Mouth  Mouth
}

// Score says how well mouths move with a speech track.
type Score struct {
	// Confidence is the probability, from 0 to 1, that a speech which has nothing to do with the mouths would agree less with them at
	// each lag.
	Confidence float64
	// Offset is the number of frames by which the mouths come after the speech, at the lag at which they agree most. It means nothing if
	// Confidence is low.
	Offset int
}

const (
	// mostLag is the largest lag in frames. Half a second is far more than the .1 s at which people begin to see that lips are late or
	// early (ITU-R BT.1359).
	mostLag = 15

	leastSeconds = 3  // length of all mouths together; shorter speech has too few syllables
	leastRun     = 1  // length of a run of frames in seconds, at least
	leastRate    = 10 // frames/s: a lower rate shows only every second movement of a mouth, or fewer

	// slow is the standard deviation of a Gaussian in seconds. Movements that it keeps are removed: a head that turns, light that
	// changes. In speech a mouth moves 2 to 7 times a second (Chandrasekaran et al., "The Natural Statistics of Audiovisual Speech",
	// 2009). The Gaussian keeps less than a hundredth of these movements.
	slow = .25
)

// Of returns the score of mouths and a speech track, which begin together. fps is the frame rate. Of returns false if there are
// too few mouths, or if nobody speaks.
func Of(frames []Frame, s *Sound, fps float64) (Score, bool) {
	frames, runs := longRuns(frames, int(math.Ceil(leastRun*fps)))
	if fps < leastRate || float64(len(frames)) < leastSeconds*fps {
		return Score{}, false
	}
	curve, ok := s.opening(frames, fps)
	if !ok {
		return Score{}, false
	}
	m := newMovements(frames, runs, slow*fps)
	asked := func(i, lag int) float64 {
		at := frames[i].Number - lag
		if at < 0 || at >= len(curve) {
			return 0
		}
		return curve[at]
	}
	best, offset := -1., 0
	y := make([]float64, len(frames))
	for lag := -mostLag; lag <= mostLag; lag++ {
		for i := range y {
			y[i] = asked(i, lag)
		}
		if z := m.agreement(y, 0); z > best {
			best, offset = z, lag
		}
	}
	for i := range y {
		y[i] = asked(i, 0)
	}
	return Score{Confidence: m.chance(y, slow*fps).below(best), Offset: offset}, true
}

// longRuns returns the frames of runs of least frames or more, and the ends of these runs as indices. In a run each frame
// follows the one before, with the same person.
func longRuns(frames []Frame, least int) (kept []Frame, ends []int) {
	for from := 0; from < len(frames); {
		to := from + 1
		for to < len(frames) && frames[to].Number == frames[to-1].Number+1 && frames[to].Person == frames[from].Person {
			to++
		}
		if to-from >= least {
			kept = append(kept, frames[from:to]...)
			ends = append(ends, len(kept))
		}
		from = to
	}
	return kept, ends
}

// quick removes slow movements from x in place. slow is the standard deviation of a Gaussian in samples.
func quick(x []float64, slow float64) {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	var mean float64
	for i, v := range dsp.Gaussian(y, slow) {
		x[i] -= float64(v)
		mean += x[i] / float64(len(x))
	}
	for i := range x {
		x[i] -= mean
	}
}

// people returns the persons of frames, in their order.
func people(frames []Frame) (all []int) {
	for _, f := range frames {
		all = append(all, f.Person)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
