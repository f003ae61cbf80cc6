package speaker

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// Each window is scored by itself, so that no more crops of a face are kept than those
// of a window, however long the face is seen. Windows overlap, since the network knows
// little of the sound and the pictures around the ends of a window.
const (
	windowTicks = 100 // at most
	shared      = 20  // by two windows
)

// Window is how the face of a track looks over some ticks.
type Window struct {
	track   int32
	from    int // the first tick
	crops   []*crop
	known   int  // ticks at its beginning that the window before has, too
	company bool // another face is seen meanwhile
}

// gather adds the face to its window, for the ticks from one to another and for
// any that were missed before. It returns windows that are complete.
func (o *observed) gather(from, to int, company bool) (complete []*Window) {
	if o.face == nil {
		return nil
	}
	if o.window == nil {
		o.window = &Window{track: o.track, from: from}
	}
	w := o.window
	w.company = w.company || company
	for w.to() < to {
		w.crops = append(w.crops, o.face)
		if len(w.crops) == windowTicks {
			complete = w.ready(complete)
			w = w.next(company)
		}
	}
	o.window = w
	return complete
}

// next returns the window to go on with after a full one.
func (w *Window) next(company bool) *Window {
	kept := windowTicks - shared
	return &Window{track: w.track, from: w.from + kept, crops: slices.Clone(w.crops[kept:]), known: shared, company: company}
}

// to is the tick after the last.
func (w *Window) to() int { return w.from + len(w.crops) }

// ready adds the window to those that are complete if it needs a score: not if there was
// no other face, nor if the window before has all of its ticks.
func (w *Window) ready(complete []*Window) []*Window {
	if w == nil || !w.company || len(w.crops) == w.known {
		return complete
	}
	return append(complete, w)
}

// scores are a track's, tick by tick.
type scores struct {
	from   int // the first tick
	values []float32
}

// unscored is the score of a face that was not scored: as if it didn't speak.
const unscored = -3

// Score scores windows until there are no more, by the MFCC of the source's own sound.
// Without a sound (nil) it only receives them. Add may be called meanwhile. A network that
// fails, or doesn't end, is not run again for the video, and no scores are kept: with a few
// of them the other faces would seem mute. The only errors are those of the context.
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

// keep keeps the scores of a window. Over the ticks that the window before has too, its
// scores change step by step to the new ones. The shorter the new window is, the less
// they change, since it tells less.
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

// score returns the network's score of a track in a frame.
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
