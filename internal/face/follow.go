package face

import (
	"context"
	"image"
)

// follow looks for each known face near where it was. A face that seems to be
// another person's is missed: a track may end, but never goes over.
func (t *Tracker) follow(ctx context.Context, frame *image.YCbCr) error {
	steps := make([]step, len(t.live))
	for i, k := range t.live {
		f, ok, err := t.finder.Locate(ctx, frame, k.Face)
		if err != nil {
			return err
		}
		if ok && f.Box.inside(frame) {
			print := imprintOf(frame, f)
			steps[i] = step{f, print, print.likeness(&k.print)}
		}
	}
	live := t.live[:0]
	for i, k := range t.live {
		k.take(steps[i], contested(steps, i))
		if k.misses < missesToLose {
			live = append(live, k)
		}
	}
	t.live = live
	return nil
}

// step is a face that may be a track's in the next frame.
type step struct {
	Face
	print imprint
	like  float32 // how alike track and face look; 0: there is none
}

const (
	samePerson = .7 // likeness
	learnPrint = .2 // of the last frame, in the track's imprint
)

// contested tells whether the face of a step is one that another track has
// reached as well and looks more like.
func contested(steps []step, i int) bool {
	for k, s := range steps {
		if k != i && s.like > steps[i].like && s.Box.same(steps[i].Box) {
			return true
		}
	}
	return false
}

// take goes on with the step unless it leads to another person.
func (k *track) take(s step, contested bool) {
	if contested || s.like < samePerson {
		k.misses++
		return
	}
	s.Track = k.Track
	k.Face, k.misses = s.Face, 0
	for i, v := range s.print {
		k.print[i] += learnPrint * (v - k.print[i])
	}
}

// inside tells whether so much of the box is within the frame that a face can
// be seen.
func (b Box) inside(frame *image.YCbCr) bool {
	least := .1 * b.Size
	x, y := b.X-float32(frame.Rect.Min.X), b.Y-float32(frame.Rect.Min.Y)
	return x > least && y > least && x < float32(frame.Rect.Dx())-least && y < float32(frame.Rect.Dy())-least
}
