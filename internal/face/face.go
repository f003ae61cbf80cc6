// Package face finds faces in the frames of a video, follows each through its
// shot, and aligns it to a canonical face.
package face

import "image"

// Point is a place in a frame, in pixels: x to the right, y down, the centre of
// the top left pixel at 0, 0.
type Point struct{ X, Y float32 }

// Box is a square around a face.
type Box struct{ X, Y, Size float32 } // centre and side, pixels

// Face is one face in one frame, as far as the frames up to it tell.
type Face struct {
	Track  int // of one person in one shot; tracks are numbered from 0 in order of appearance
	Box    Box
	Points Points
}

// Points are the landmarks of a face.
type Points struct {
	LeftPupil, RightPupil Point // left and right as seen in the picture
}

// Tracker follows the faces of one video.
type Tracker struct{}

// NewTracker returns a tracker for frames of a size.
func NewTracker(width, height int) (*Tracker, error) { panic("todo") }

// Add sees the video's next frame and returns the faces in it, and whether a
// new shot starts with it. The frame is not kept.
func (t *Tracker) Add(frame *image.YCbCr) (faces []Face, cut bool) { panic("todo") }
