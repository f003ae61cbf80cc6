package syncscore

import (
	"math"

	"lipsync/internal/domain/order"
)

const (
	// leastMoment is the shortest moment of a curve, in seconds: about a syllable.
	leastMoment = .25
	// aroundMoment is the time before and after the middle of a moment whose sounds count, in seconds. Somebody who speaks makes some four
	// closures or open vowels in so much time, so that one which is missed is a notch and not a gap.
	aroundMoment = 1
)

// tally counts the sounds of a kind, or the frames with speech, by frame of the output.
type tally struct{ all, good []int }

func newTally(frames int) tally { return tally{make([]int, frames+1), make([]int, frames+1)} }

// add counts one at a frame.
func (t tally) add(frame int, good bool) {
	t.all[frame+1]++
	if good {
		t.good[frame+1]++
	}
}

// sum makes sums up to each frame of the numbers in it.
func (t tally) sum() {
	for i := 1; i < len(t.all); i++ {
		t.all[i] += t.all[i-1]
		t.good[i] += t.good[i-1]
	}
}

// share returns the share of what is good in the frames from from until before to, and whether there is any.
func (t tally) share(from, to int) (float64, bool) {
	all := t.all[to] - t.all[from]
	if all == 0 {
		return 0, false
	}
	return float64(t.good[to]-t.good[from]) / float64(all), true
}

// curve returns the score of each moment of an output with so many frames.
func curve(frames int, fps float64, kinds ...tally) (c order.Curve) {
	for _, k := range kinds {
		k.sum()
	}
	moments := min(order.MostMoments, int(math.Ceil(float64(frames)/fps/leastMoment)))
	for m := range moments {
		middle, around := (float64(m)+.5)*float64(frames)/float64(moments), max(aroundMoment*fps, float64(frames)/float64(moments)/2)
		from, to := max(0, int(middle-around)), min(frames, int(math.Ceil(middle+around)))
		worst, known := 1., false
		for _, k := range kinds {
			if share, some := k.share(from, to); some {
				worst, known = min(worst, share), true
			}
		}
		c.Add(worst, known)
	}
	return c
}
