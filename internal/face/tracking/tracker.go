// Package tracking follows the faces of a video through its shots.
package tracking

import (
	"context"
	"image"
	"math"
	"slices"

	"lipsync/internal/domain/failure"
	"lipsync/internal/face/detection"
	"lipsync/internal/signal/pixels"
)

// Face is a tracked face in a frame.
type Face struct {
	Track int // number of the track; tracks are numbered from 0 in order of appearance
	detection.Face
	Crop *pixels.Crop // the pixels around it, enough for all later stages
}

// Tracker follows the faces of one video. Detection is slow, so it is done only now and then. In the frames between, a
// face is found by registration, and only the landmarks of its mouth are detected.
type Tracker struct {
	detector detection.Detector
	stride   int // frames from one tracked frame to the next
	skipped  int // frames since the last tracked one
	every    intervals
	frames   int       // number of tracked frames
	searched int       // value of frames at the last search for all faces
	view     thumbnail // at the last search, for all faces or for large ones
	next     int       // number of the next track
	live     []*track
	cuts     cutDetector
	closer   int                 // value of frames before which no search for small faces is due
	told     [TurnedAway + 1]int // value of frames from which on each Lost doesn't count
}

// strideRate is the frame rate, in frames/s, from which on only every second frame is tracked. It is a little less than 48,
// the lowest usual rate above 30. A face moves evenly between frames, so 25 to 50 frames a second are enough.
const strideRate = 47

// Stride returns the number of frames from one tracked frame of a video to the next.
func Stride(fps float64) int { return 1 + int(fps/strideRate) }

// intervals holds numbers of tracked frames from one detection to the next.
type intervals struct {
	search  int // in the whole picture, for all faces
	large   int // in the whole picture, for large faces, if it changes much
	empty   int // in the whole picture, for all faces, while there is no face
	confirm int // of a tracked face
	told    int // for which it counts why a face was missed or not located
	closer  int // in parts of the picture, for faces that are too small to track, while there is no face
}

// The intervals in seconds.
const (
	searchEvery  = 2   // a small face that comes in may be missed for so long
	largeEvery   = .4  // a large face that comes in may be missed for so long
	emptyEvery   = .12 // a face that comes into an empty picture may be missed for so long
	closerEvery  = 5   // it takes 15 searches at 16:9, and only tells why there is no face
	toldLasts    = 2   // so that who has left, or a single mistake of a search, doesn't tell why there is no face for minutes
	confirmEvery = .4  // with .2 mouths followed the speech no better: the mean articulation of six videos was .641, and .659 with .4
)

// newIntervals returns the intervals. fps is the number of tracked frames a second.
func newIntervals(fps float64) intervals {
	frames := func(seconds float64) int { return max(1, int(math.Round(seconds*fps))) }
	return intervals{search: frames(searchEvery), large: frames(largeEvery), empty: frames(emptyEvery), confirm: frames(confirmEvery), closer: frames(closerEvery), told: frames(toldLasts)}
}

// missesToLose is a number of tracked frames in a row. A face that is missed in all of them loses its track. By eye.
const missesToLose = 4

// LongestGap is the largest number of tracked frames in a row in which the face of a track is missed.
const LongestGap = missesToLose - 1

// NewTracker returns the tracker of one video. fps is its frame rate.
func NewTracker(d detection.Detector, fps float64) *Tracker {
	stride := Stride(fps)
	return &Tracker{detector: d, stride: stride, every: newIntervals(fps / float64(stride))}
}

// Add returns what is in the video's next frame. In frames that are not tracked (see Stride) it finds no face. The first frame of a
// shot is tracked. Add doesn't keep the frame. The mouths of faces that are only followed are those of an earlier frame, until Place has placed them.
func (t *Tracker) Add(ctx context.Context, frame *image.YCbCr) (*Seen, error) {
	view := thumbnailOf(frame)
	seen := &Seen{Cut: t.cuts.add(&view), detector: t.detector}
	if t.skipped++; !seen.Cut && t.frames > 0 && t.skipped < t.stride {
		seen.Lost = t.why()
		return seen, nil
	}
	t.skipped = 0
	if seen.Cut {
		t.live, t.told = nil, [TurnedAway + 1]int{}
	}
	known := len(t.live)
	early := t.detect(ctx, frame, t.due(&view, frame.Rect, seen.Cut))
	err := t.follow(ctx, frame)
	if smallest := t.due(&view, frame.Rect, seen.Cut || len(t.live) < known); err == nil && smallest > 0 {
		if t.view = view; smallest == smallestFace {
			t.searched = t.frames
		}
		if early.smallest != smallest {
			early.wait()
			early = t.detect(ctx, frame, smallest)
		}
		if err = t.search(ctx, frame, early); err == nil && len(t.live) == 0 && t.why() == Unseen && t.frames >= t.closer {
			t.closer = t.frames + t.every.closer
			err = t.lookCloser(ctx, frame)
		}
	}
	if early.wait(); err != nil {
		return nil, err
	}
	seen.add(t.live)
	seen.Lost = t.why()
	t.frames++
	return seen, nil
}

// why returns why there is no face in the frame, if there is none.
func (t *Tracker) why() Lost {
	for lost := TurnedAway; lost > Unseen; lost-- {
		if t.frames < t.told[lost] {
			return lost
		}
	}
	return Unseen
}

// tell notes for a number of tracked frames why a face isn't found.
func (t *Tracker) tell(why Lost, frames int) { t.told[why] = t.frames + frames }

// These are sides of boxes, as shares of the shorter side of the picture. By eye.
const (
	smallestFace = .07 // of the smallest faces that are searched for
	largeFace    = .15 // of the smallest faces that count as large
)

// A person covers this part of a picture. Distances are from the centre of the face's box, as shares of its side.
const (
	headReach     = .9  // to each side and up
	shoulderReach = 1.6 // to each side, below the centre
)

// due returns the side of the smallest faces that are to be searched for in the whole picture now, as a share of its
// shorter side, or 0 for no search. If surely is true, a search for all faces is due. A search for large faces is due
// if the picture has changed much, as it does when a person comes in.
func (t *Tracker) due(view *thumbnail, frame image.Rectangle, surely bool) (smallest float64) {
	since := t.frames - t.searched
	switch {
	case surely || t.frames == 0 || since >= t.every.search || len(t.live) == 0 && since >= t.every.empty:
		return smallestFace
	case t.frames%t.every.large == 0 && view.changed(&t.view, func(x, y float32) bool { return t.covers(x*float32(frame.Dx()), y*float32(frame.Dy())) }):
		return largeFace
	}
	return 0
}

// covers tells whether a place of the frame, in pixels, is on a tracked person or so near that it changes when the person
// moves.
func (t *Tracker) covers(x, y float32) bool {
	return slices.ContainsFunc(t.live, func(k *track) bool {
		aside, above := max(x-k.Box.X, k.Box.X-x), k.Box.Y-y
		return aside < headReach*k.Box.Size && above < headReach*k.Box.Size && above > 0 || aside < shoulderReach*k.Box.Size && above <= 0
	})
}

// detecting is a search for faces in a frame.
type detecting struct {
	smallest float64 // as in detection.Detector; 0 for no search
	faces    []detection.Face
	err      error
	done     chan struct{} // closed when boxes and err are set
}

// detect begins a search for faces, unless smallest is 0. It goes on while the known faces are followed, since a network takes as long
// for the one as for the other.
func (t *Tracker) detect(ctx context.Context, frame *image.YCbCr, smallest float64) *detecting {
	d := &detecting{smallest: smallest, done: make(chan struct{})}
	if smallest == 0 {
		close(d.done)
		return d
	}
	go func() {
		defer close(d.done)
		d.err = failure.Guard(func() (err error) {
			d.faces, err = t.detector.Detect(ctx, frame, smallest)
			return err
		})
	}()
	return d
}

func (d *detecting) wait() { <-d.done }

// search starts tracks for new faces that a search found.
func (t *Tracker) search(ctx context.Context, frame *image.YCbCr, found *detecting) error {
	found.wait()
	if found.err != nil {
		return found.err
	}
	least := float32(smallestFace) * float32(min(frame.Rect.Dx(), frame.Rect.Dy()))
	for _, f := range found.faces {
		if tracked(t.live, f.Box) {
			continue
		}
		ok := f.Box.Size >= least && f.Box.Inside(frame.Rect)
		lost := lostAt(f.Box, frame.Rect)
		for i := 0; ok && i < 2; i++ {
			var err error
			if f, ok, err = t.detector.Locate(ctx, frame, f); err != nil {
				return err
			}
		}
		if ok && f.Box.Inside(frame.Rect) && !tracked(t.live, f.Box) {
			if k := newTrack(t.next, frame, f); k != nil {
				t.live = append(t.live, k)
				t.next++
			}
		} else if !ok {
			t.tell(lost, t.every.told)
		}
	}
	return nil
}

// lookCloser searches for faces that are too small to track, in parts of the picture that overlap by more than such a face. It leaves out
// pictures that are very long.
func (t *Tracker) lookCloser(ctx context.Context, frame *image.YCbCr) error {
	short, long := min(frame.Rect.Dx(), frame.Rect.Dy()), max(frame.Rect.Dx(), frame.Rect.Dy())
	least, side, step := float32(smallestFace)*float32(short), short/4*2, short/5*2
	if step == 0 || long > 3*short {
		return nil
	}
	for y := frame.Rect.Min.Y; y < frame.Rect.Max.Y-side/5; y += step {
		for x := frame.Rect.Min.X; x < frame.Rect.Max.X-side/5; x += step {
			part := frame.SubImage(image.Rect(x, y, x+side, y+side)).(*image.YCbCr)
			faces, err := t.detector.Detect(ctx, part, 0)
			if err != nil {
				return err
			}
			if slices.ContainsFunc(faces, func(f detection.Face) bool { return f.Box.Size < least }) {
				t.tell(TooSmall, t.every.closer)
				return nil
			}
		}
	}
	return nil
}

// tracked tells whether one of the tracks has the face of a box.
func tracked(live []*track, b detection.Box) bool {
	return slices.ContainsFunc(live, func(k *track) bool { return k.Box.Same(b) })
}
