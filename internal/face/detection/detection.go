// Package detection finds faces and their landmarks in single frames.
package detection

import (
	"image"

	"lipsync/internal/signal/geom"
)

// Box is a square around a face: its centre and its side, in pixels of the frame.
type Box struct{ X, Y, Size float32 }

const (
	sameFace  = .5 // two boxes are of one face if their centres are nearer than this, as a share of the larger side
	leastSeen = .1 // least distance of the centre from the frame's edges, as a share of the side: then six tenths of the box or more are seen
)

// Centre returns the middle of the box.
func (b Box) Centre() geom.Point { return geom.Point{X: b.X, Y: b.Y} }

// Lerp returns the box that is t of the way from b to c.
func (b Box) Lerp(c Box, t float32) Box {
	centre := b.Centre().Lerp(c.Centre(), t)
	return Box{X: centre.X, Y: centre.Y, Size: b.Size + (c.Size-b.Size)*t}
}

// Same tells whether two boxes of a frame are of one face.
func (b Box) Same(c Box) bool {
	return geom.Distance(b.Centre(), c.Centre()) < sameFace*max(b.Size, c.Size)
}

// Contains tells whether a point is in the box.
func (b Box) Contains(p geom.Point) bool {
	half := b.Size / 2
	return p.X >= b.X-half && p.X < b.X+half && p.Y >= b.Y-half && p.Y < b.Y+half
}

// Inside tells whether enough of the box is within the frame to find a face.
func (b Box) Inside(frame image.Rectangle) bool {
	least := leastSeen * b.Size
	x, y := b.X-float32(frame.Min.X), b.Y-float32(frame.Min.Y)
	return x > least && y > least && x < float32(frame.Dx())-least && y < float32(frame.Dy())-least
}

// Face is one face in one frame, in pixels.
type Face struct {
	Box       Box
	Landmarks Landmarks
	Lips      Lips
}

// Eyes returns the distance of the pupils in pixels.
func (f *Face) Eyes() float32 {
	return geom.Distance(f.Landmarks[LeftPupil], f.Landmarks[RightPupil])
}

// Landmarks are points of a face in pixels, by the constants below. Left and right are those of the picture.
type Landmarks [14]geom.Point

// The landmarks.
const (
	LeftPupil = iota
	RightPupil
	LeftOuterEye // the corner of the eye at the temple
	RightOuterEye
	LeftInnerEye // the corner of the eye at the nose
	RightInnerEye
	LeftBrow // the outer end of the brow
	RightBrow
	Nose       // its tip
	LeftCorner // of the mouth
	RightCorner
	UpperLip // its top
	LowerLip // its bottom
	NoseBase // where the nose ends above the upper lip
)

// Rigid returns the landmarks that don't move against each other when a face speaks.
func Rigid() []int {
	return []int{LeftPupil, RightPupil, LeftOuterEye, RightOuterEye, LeftInnerEye, RightInnerEye, Nose, LeftBrow, RightBrow}
}

// Mobile returns the landmarks that are found again in each frame, with the lips.
func Mobile() []int { return []int{LeftCorner, RightCorner, UpperLip, LowerLip, NoseBase} }
