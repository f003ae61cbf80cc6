package tracking

import (
	"context"
	"image"

	"lipsync/internal/face/detection"
	"lipsync/internal/signal/geom"
)

// Seen is what a Tracker finds in a frame.
type Seen struct {
	Faces []Face
	Cut   bool // whether a new shot starts with the frame
	Lost  Lost // why there is no face in the frame, if there is none

	detector detection.Detector
	followed []followed
	placed   chan struct{} // closed once Place has ended
}

// Lost says why a face isn't found. Of several faces the largest value counts.
type Lost int32

// The reasons.
const (
	Unseen     Lost = iota // nothing looks like a face
	TooSmall               // smaller than smallestFace, or missed and smaller than smallSide
	Outside                // too much of it is outside of the picture
	TurnedAway             // or something hides most of it
)

// smallSide is the side of boxes of small faces, as a share of the shorter side of the picture: their mouths are often missed. By eye.
const smallSide = .1

// lostAt returns why the face that was last seen in a box isn't found.
func lostAt(b detection.Box, frame image.Rectangle) Lost {
	half := b.Size / 2
	switch {
	case b.Size < smallSide*float32(min(frame.Dx(), frame.Dy())):
		return TooSmall
	case b.X-half < float32(frame.Min.X) || b.Y-half < float32(frame.Min.Y) || b.X+half > float32(frame.Max.X) || b.Y+half > float32(frame.Max.Y):
		return Outside
	}
	return TurnedAway
}

// followed is a face that was not detected in the frame, but only moved with its person.
type followed struct {
	index  int             // in Faces
	move   geom.Similarity // from the frame before to this one
	before *Seen           // the frame in which its person was last found
	there  int             // its index in the faces of that frame
}

// add adds the faces of tracks that are found in the frame.
func (s *Seen) add(live []*track) {
	s.placed = make(chan struct{})
	for _, k := range live {
		if k.misses > 0 {
			continue
		}
		if k.unsure > 0 {
			s.followed = append(s.followed, followed{len(s.Faces), k.move, k.seen, k.index})
		}
		k.seen, k.index = s, len(s.Faces)
		s.Faces = append(s.Faces, k.Face)
	}
}

// Place finds the mouths of the faces that the tracker has only followed. frame is the frame that the tracker got. Place can run for
// many frames at once, while the tracker goes on. It has to be called for all earlier frames too, since it may wait for them.
func (s *Seen) Place(ctx context.Context, frame *image.YCbCr) error {
	if s.placed == nil {
		return nil // nothing was followed
	}
	defer close(s.placed)
	for _, f := range s.followed {
		face := &s.Faces[f.index].Face
		mouth, ok, err := s.detector.LocateMouth(ctx, frame, *face)
		if err != nil {
			return err
		}
		if !ok { // the mouth stays as it was
			select {
			case <-f.before.placed:
			case <-ctx.Done():
				return ctx.Err()
			}
			mouth = carried(f.before.Faces[f.there].Face, f.move)
		}
		face.Lips = mouth.Lips
		for _, k := range detection.Mobile() {
			face.Landmarks[k] = mouth.Landmarks[k]
		}
	}
	s.followed = nil // so that earlier frames are forgotten
	return nil
}
