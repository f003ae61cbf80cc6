package face

import (
	"context"
	"image"
)

// Tracker follows the faces of one video.
type Tracker struct {
	finder Finder
	frames int
	next   int // track number
	live   []*track
	cuts   cutter
}

// track is one person in the current shot.
type track struct {
	Face
	print  imprint // of the last frames
	misses int     // frames since the face was last seen
}

const (
	searchEvery  = 10  // frames between searches of the whole picture, when no face is lost
	lookOutEvery = 3   // the same while there is no face
	smallestFace = .09 // of the shorter side of the picture: that starts a track
	missesToLose = 4   // frames
)

// NewTracker returns a tracker for one video.
func NewTracker(f Finder) *Tracker { return &Tracker{finder: f} }

// Add sees the video's next frame and returns the faces in it, and whether a
// new shot starts with it. The frame is not kept.
func (t *Tracker) Add(ctx context.Context, frame *image.YCbCr) (faces []Face, cut bool, err error) {
	cut = t.cuts.add(frame)
	if cut {
		t.live = nil
	}
	known := len(t.live)
	if err := t.follow(ctx, frame); err != nil {
		return nil, cut, err
	}
	every := searchEvery
	if len(t.live) == 0 {
		every = lookOutEvery
	}
	if lost := len(t.live) < known; lost || cut || t.frames%every == 0 {
		if err := t.search(ctx, frame); err != nil {
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

// search looks for new faces in the whole picture.
func (t *Tracker) search(ctx context.Context, frame *image.YCbCr) error {
	boxes, err := t.finder.Find(ctx, frame)
	if err != nil {
		return err
	}
	smallest := smallestFace * float32(min(frame.Rect.Dx(), frame.Rect.Dy()))
	for _, b := range boxes {
		if b.Size < smallest || !b.inside(frame) || taken(t.live, b) {
			continue
		}
		f, ok, err := t.finder.Locate(ctx, frame, Face{Box: b})
		if err != nil {
			return err
		}
		if ok && f.Box.inside(frame) && !taken(t.live, f.Box) {
			f.Track = t.next
			t.next++
			t.live = append(t.live, &track{Face: f, print: imprintOf(frame, f)})
		}
	}
	return nil
}

// taken tells whether one of the tracks is where the box is.
func taken(by []*track, b Box) bool {
	for _, k := range by {
		if k.Box.same(b) {
			return true
		}
	}
	return false
}

// same tells whether two boxes of a frame are of one face.
func (b Box) same(c Box) bool { return Distance(b.centre(), c.centre()) < .5*max(b.Size, c.Size) }

func (b Box) centre() Point { return Point{b.X, b.Y} }
