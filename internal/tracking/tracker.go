// Package tracking follows the faces of a video through its shots.
package tracking

import (
	"context"
	"image"
	"math"
	"slices"

	"lipsync/internal/detection"
	"lipsync/internal/pixels"
)

// Face is a face in a frame, as far as the frames up to it tell.
type Face struct {
	Track int // of one person in one shot; tracks are numbered from 0 in order of appearance
	detection.Face
	Crop *pixels.Crop // the pixels around it, enough for all later stages
}

// Tracker follows the faces of one video. Detection is slow, so it is done now
// and then: from frame to frame a face is registered to how it looked before,
// and only the landmarks of its mouth are found anew.
type Tracker struct {
	detector detection.Detector
	stride   int // frames from one that is tracked to the next
	skipped  int // frames since the last one that was tracked
	every    intervals
	frames   int       // that were tracked
	searched int       // the frame of the last search
	view     thumbnail // at the last search of either kind
	next     int       // track number
	live     []*track
	cuts     cutDetector
}

// Stride returns of how many frames of a video one is tracked. More than 25 to 50
// a second tell no more of a face, which moves evenly between them.
func Stride(fps float64) int { return 1 + int(fps/47) }

// intervals are how many tracked frames pass between detections.
type intervals struct {
	search  int // of the whole picture, for all faces
	large   int // of the whole picture, for large faces where it changes much
	empty   int // of the whole picture, for all faces while there is none
	confirm int // of a face that is tracked
}

func newIntervals(fps float64) intervals {
	frames := func(seconds float64) int { return max(1, int(math.Round(seconds*fps))) }
	return intervals{search: frames(2), large: frames(.4), empty: frames(.12), confirm: frames(.4)}
}

// missesToLose is in how many tracked frames in a row a face is missed when its track
// ends.
const missesToLose = 4

// LongestGap is the most tracked frames in a row in which the face of a track is missed.
const LongestGap = missesToLose - 1

// NewTracker returns a tracker for one video of a frame rate.
func NewTracker(d detection.Detector, fps float64) *Tracker {
	stride := Stride(fps)
	return &Tracker{detector: d, stride: stride, every: newIntervals(fps / float64(stride))}
}

// Add sees the video's next frame and returns the faces in it, and whether a
// new shot starts with it. In frames that are not tracked (see Stride) it finds no
// face; the first of a shot is. The frame is not kept.
func (t *Tracker) Add(ctx context.Context, frame *image.YCbCr) (faces []Face, cut bool, err error) {
	view := thumbnailOf(frame)
	cut = t.cuts.add(&view)
	if t.skipped++; !cut && t.frames > 0 && t.skipped < t.stride {
		return nil, false, nil
	}
	t.skipped = 0
	if cut {
		t.live = nil
	}
	known := len(t.live)
	if err := t.follow(ctx, frame); err != nil {
		return nil, cut, err
	}
	lost := len(t.live) < known
	if smallest := t.due(&view, frame.Rect, lost || cut); smallest > 0 {
		t.view = view
		if err := t.search(ctx, frame, smallest); err != nil {
			return nil, cut, err
		}
	}
	t.frames++
	for _, k := range t.live {
		if k.misses == 0 {
			faces = append(faces, k.Face)
		}
	}
	return faces, cut, nil
}

// The sides of the smallest faces that are searched for, and of the smallest large
// ones, as shares of the shorter side of the picture.
const (
	smallestFace = .09
	largeFace    = .15
)

// due returns how small the faces are that are to be looked for now in the whole
// picture, 0 for none. Who comes into a picture changes it much.
func (t *Tracker) due(view *thumbnail, frame image.Rectangle, surely bool) (smallest float64) {
	since := t.frames - t.searched
	switch {
	case surely || t.frames == 0 || since >= t.every.search || len(t.live) == 0 && since >= t.every.empty:
		t.searched = t.frames
		return smallestFace
	case t.frames%t.every.large == 0 && view.changed(&t.view, func(x, y float32) bool { return t.covers(x*float32(frame.Dx()), y*float32(frame.Dy())) }):
		return largeFace
	}
	return 0
}

// covers tells whether a place of the frame is part of somebody who is tracked or
// next to it, so that it changes when that person moves.
func (t *Tracker) covers(x, y float32) bool {
	const head, shoulders = .9, 1.6 // of the side of the face's box, from its centre
	return slices.ContainsFunc(t.live, func(k *track) bool {
		aside, above := max(x-k.Box.X, k.Box.X-x), k.Box.Y-y
		return aside < head*k.Box.Size && above < head*k.Box.Size && above > 0 || aside < shoulders*k.Box.Size && above <= 0
	})
}

// search looks for new faces of a size in the whole picture.
func (t *Tracker) search(ctx context.Context, frame *image.YCbCr, smallest float64) error {
	boxes, err := t.detector.Detect(ctx, frame, smallest)
	if err != nil {
		return err
	}
	least := float32(smallestFace) * float32(min(frame.Rect.Dx(), frame.Rect.Dy()))
	for _, b := range boxes {
		if b.Size < least || !b.Inside(frame.Rect) || taken(t.live, b) {
			continue
		}
		f, ok, err := t.detector.Locate(ctx, frame, detection.Face{Box: b})
		if err != nil {
			return err
		}
		if ok && f.Box.Inside(frame.Rect) && !taken(t.live, f.Box) {
			if k := newTrack(t.next, frame, f); k != nil {
				t.live = append(t.live, k)
				t.next++
			}
		}
	}
	return nil
}

// taken tells whether one of the tracks is where the box is.
func taken(by []*track, b detection.Box) bool {
	return slices.ContainsFunc(by, func(k *track) bool { return k.Box.Same(b) })
}
