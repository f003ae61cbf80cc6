// Package face finds faces in the frames of a video, follows each through its
// shot, and aligns it to a canonical face.
package face

import "math"

// Point is a place in a frame, in pixels: x to the right, y down, the centre of
// the top left pixel at 0, 0.
type Point struct{ X, Y float32 }

// Distance returns the distance of two points, in pixels.
func Distance(a, b Point) float32 {
	return float32(math.Hypot(float64(a.X-b.X), float64(a.Y-b.Y)))
}

// Box is a square around a face.
type Box struct{ X, Y, Size float32 } // centre and side, pixels

// Face is one face in one frame, as far as the frames up to it tell.
type Face struct {
	Track  int // of one person in one shot; tracks are numbered from 0 in order of appearance
	Box    Box
	Points Points
}

// Points are the landmarks of a face, by the constants below. Left and right
// are as seen in the picture.
type Points [13]Point

// The landmarks, with the names of pigo's cascades.
const (
	LeftPupil = iota
	RightPupil
	LeftOuterEye  // lp312: the corner of the eye at the temple
	RightOuterEye // lp312 mirrored
	LeftInnerEye  // lp38: the corner of the eye at the nose
	RightInnerEye // lp38 mirrored
	LeftBrow      // lp46: the outer end of the brow
	RightBrow     // lp46 mirrored
	Nose          // lp93: its tip
	LeftCorner    // lp84: of the mouth
	RightCorner   // lp84 mirrored
	UpperLip      // lp81: its top
	LowerLip      // lp82: its bottom
)
