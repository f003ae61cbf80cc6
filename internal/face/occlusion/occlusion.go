// Package occlusion finds things in front of mouths, such as hands and microphones, so that no mouth is painted on them.
//
// The mouth region of each frame is brought onto the canonical face and divided into cells. A cell is foreign if its colour or its
// contrast is far from what the same person shows there in most frames. Foreign cells are an object if they hide the lips and reach the edge
// of the region, joined in the same frame: a hand and a microphone have to come from somewhere, but an open mouth, a smile or a tongue do
// not. Nor does the background beside a head that turns, or the neck below one that tilts back, hide the lips. A joined thing has other
// colours than the face, all the way; or the lips' own colour is no longer seen, as behind a hand.
//
// It also finds captions and logos beside the lips, which are kept as they are while the mouth moves.
package occlusion

import (
	"slices"

	"lipsync/internal/face/alignment"
	"lipsync/internal/face/detection"
)

// Analyser sees the frames of one video, and finds what hides mouths in them. It keeps the colours of each track for a minute at most,
// and then only the covers.
type Analyser struct {
	tracks map[int]*track
	covers map[place]*Cover
}

// place is a face in a frame.
type place struct{ track, frame int }

// track has the last views of a person in a shot. A thing in front of a face may break the track of the tracker: the face that is found there
// soon after goes on with the views.
type track struct {
	first  int           // frame of views[0]; there is one view for each frame
	views  []view        // at most 2 × window
	judged int           // number of views whose covers are known
	skin   [3]float32    // of the first view
	box    detection.Box // of the last view
}

// A window is the number of frames that are judged at once, half a minute at 25 frames/s. They are compared with each other and with those
// of the window before. With fewer than fewest frames nothing is known of a person.
const window, fewest = 750, 25

// soon is the number of frames, a second at 25 frames/s, within which a face is found again.
const soon = 25

// nobody is the number of the track of a view in which the face wasn't found.
const nobody = -1

// New returns an analyser that has seen no frames.
func New() *Analyser { return &Analyser{tracks: map[int]*track{}, covers: map[place]*Cover{}} }

// Add adds the next frame. All tracks end at a cut.
func (a *Analyser) Add(f alignment.Frame) {
	if f.Cut {
		a.End()
	}
	for i := range f.Faces {
		face := &f.Faces[i]
		t := a.tracks[face.Track]
		if t == nil {
			t = a.begin(face, &f)
		}
		t.add(face)
		if len(t.views) == 2*window {
			a.judge(t)
			t.views = append(t.views[:0], t.views[window:]...)
			t.first, t.judged = t.first+window, window
		}
	}
	for n, t := range a.tracks {
		if f.Index-t.next() >= soon {
			a.judge(t)
			delete(a.tracks, n)
		}
	}
}

// next returns the frame after the last view.
func (t *track) next() int { return t.first + len(t.views) }

// begin returns the track of a face that has a new number in a frame: the one that was last where the face is, or a new one.
func (a *Analyser) begin(face *alignment.Face, f *alignment.Frame) *track {
	t, before := &track{first: f.Index}, -1
	for n, old := range a.tracks {
		goesOn := slices.ContainsFunc(f.Faces, func(other alignment.Face) bool { return other.Track == n })
		if goesOn || !old.box.Same(face.Box) || f.Index-old.first >= 2*window {
			continue
		}
		if before < 0 || old.next() > t.next() || old.next() == t.next() && n > before {
			t, before = old, n
		}
	}
	if before >= 0 {
		delete(a.tracks, before)
		last := t.views[len(t.views)-1]
		for t.next() < f.Index {
			t.views = append(t.views, view{track: nobody, to: last.to})
		}
	}
	a.tracks[face.Track] = t
	return t
}

// End judges the frames that are left, at the end of a shot or of the video.
func (a *Analyser) End() {
	for n, t := range a.tracks {
		a.judge(t)
		delete(a.tracks, n)
	}
}

// judge finds the covers of a track's views that are not judged yet.
func (a *Analyser) judge(t *track) {
	if len(t.views) < fewest {
		return
	}
	for i, c := range covers(t.views) {
		if c != nil && i >= t.judged && t.views[i].track != nobody {
			a.covers[place{t.views[i].track, t.first + i}] = c
		}
	}
	t.judged = len(t.views)
}

// Cover returns what hides the mouth of a track in a frame of the video, nil if nothing does. It is called after End.
func (a *Analyser) Cover(track, frame int) *Cover { return a.covers[place{track, frame}] }

// Covers returns the number of covers.
func (a *Analyser) Covers() int { return len(a.covers) }
