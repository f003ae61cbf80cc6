package speaker

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// Each window is scored by itself, so that only the crops of one window of a face are kept, however
// long the face is seen. Windows overlap, since near the ends of a window the network sees little of the
// sound and the pictures around.
const (
	windowTicks = 100 // length of a window, at most: 4 s, 1.3 MB
	shared      = 20  // ticks that two consecutive windows share
)

// Window holds the crops of a track, one for each of consecutive ticks.
type Window struct {
	track  int32
	from   int // the first tick
	crops  []*crop
	known  int  // number of ticks at its beginning that the window before has too
	others bool // whether another face is seen in some of its frames
}

// gather adds the face to its window for the ticks up to, but not including, to. A new window begins at
// from. others tells whether the frame has another face. gather returns the windows that are complete.
func (o *follower) gather(from, to int, others bool) (complete []*Window) {
	if o.face == nil {
		return nil
	}
	if o.window == nil {
		o.window = &Window{track: o.track, from: from}
	}
	w := o.window
	w.others = w.others || others
	for w.to() < to {
		w.crops = append(w.crops, o.face)
		if len(w.crops) == windowTicks {
			complete = w.ready(complete)
			w = w.next(others)
		}
	}
	o.window = w
	return complete
}

// next returns the window that follows a full one. It begins with the ticks that both share.
func (w *Window) next(others bool) *Window {
	kept := windowTicks - shared
	return &Window{track: w.track, from: w.from + kept, crops: slices.Clone(w.crops[kept:]), known: shared, others: others}
}

// to returns the tick after the last.
func (w *Window) to() int { return w.from + len(w.crops) }

// ready adds the window to those that are complete, if it needs scores. It needs none if there was no
// other face, or if the window before has all of its ticks.
func (w *Window) ready(complete []*Window) []*Window {
	if w == nil || !w.others || len(w.crops) == w.known {
		return complete
	}
	return append(complete, w)
}

// scores holds the scores of a track, tick by tick.
type scores struct {
	from   int // the first tick
	values []float32
}

// unscored is the score of a face that was not scored. It is below muteScore, so the face counts as one
// that doesn't speak.
const unscored = -3

// Score scores windows until the channel is closed, by the MFCC of the video's own sound. If sound is
// nil, it only receives them. Add may be called at the same time. A network that fails, or doesn't end,
// is not run again for the video, and no scores are kept: otherwise the faces without scores would seem
// not to speak. The only errors are those of the context.
func (a *Analyser) Score(ctx context.Context, windows <-chan *Window, sound *MFCC) error {
	failed := false
	for w := range windows {
		if sound == nil || failed {
			continue
		}
		values, err := a.network.score(ctx, w, sound)
		switch {
		case err == nil:
			a.keep(w, values)
		case ctx.Err() != nil:
			return fmt.Errorf("tell who speaks: %w", err)
		default:
			failed = true
			a.network.log.Error("faces are not scored: the network that tells who speaks failed", "error", err)
		}
	}
	if failed {
		clear(a.scores)
	}
	return nil
}

// keep adds the scores of a window. In the ticks that the window before has too, scores change step
// by step from the old ones to the new ones. If the new window is short they change less, since the
// network saw less.
func (a *Analyser) keep(w *Window, values []float32) {
	s := a.scores[w.track]
	if s == nil {
		s = &scores{from: w.from}
		a.scores[w.track] = s
	}
	for s.from+len(s.values) < w.from {
		s.values = append(s.values, unscored)
	}
	both := s.values[w.from-s.from:]
	step := float32(len(values)) / windowTicks / float32(len(both)+1)
	for i, v := range values {
		if v != v { // not a number
			v = unscored
		}
		if i < len(both) {
			both[i] += (v - both[i]) * float32(i+1) * step
		} else {
			s.values = append(s.values, v)
		}
	}
}

// score returns the network's score of a track in a frame, or unscored.
func (a *Analyser) score(track int32, frame int) float32 {
	s := a.scores[track]
	if s == nil {
		return unscored
	}
	i := int(math.Round(float64(frame)/a.fps*tickRate)) - s.from
	if i < 0 || i >= len(s.values) {
		return unscored
	}
	return s.values[i]
}
