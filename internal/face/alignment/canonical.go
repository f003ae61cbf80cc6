// Package alignment brings the tracked faces of a video onto one canonical face. So all later stages have
// each face upright, in one place and at one size.
//
// In canonical coordinates the pupils lie at (.7, .45) and (1.7, .45). So the unit is their distance. x grows
// to the right and y down. The mouth lies near (1.2, 1.55).
package alignment

import (
	"lipsync/internal/face/detection"
	"lipsync/internal/face/registration"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// The pupils of the canonical face.
var (
	canonicalLeft  = geom.Point{X: .7, Y: .45}
	canonicalRight = geom.Point{X: 1.7, Y: .45}
)

// Middle is the canonical place between the pupils.
var Middle = geom.Point{X: 1.2, Y: .45}

// Band is the part of the face that registration compares: from the brows to the base of the nose, which
// speech doesn't move. Its pixels are about as large as those of a crop's soft luma.
var Band = registration.Grid{Left: .45, Top: .15, Scale: 48, Width: 72, Height: 48}

// Frame is a frame of the video with the faces in it.
type Frame struct {
	Index int
	Cut   bool // a new shot starts with it
	Faces []Face
}

// Face is a face in one frame, aligned with the canonical face.
type Face struct {
	Track  int             // number of the track: one person in one shot
	Person int             // number of the person: the same in all shots in which the person was recognised
	Box    detection.Box   // in the frame
	To     geom.Similarity // from canonical coordinates to the frame's pixels
	// Shift is the distance of the mouth from its usual place, canonical. No similarity can follow the
	// mouth of a head that tilts or turns.
	Shift     geom.Point
	Landmarks detection.Landmarks // in the coordinates of ToMouth, smoothed over some frames
	Lips      detection.Lips      // in the coordinates of ToMouth, not smoothed
	// Crop holds the pixels around the face. It is nil in a frame in which the tracker missed the face.
	// Then the other fields are interpolated between those of the frames before and after.
	Crop *pixels.Crop
}

// ToMouth returns the similarity from canonical coordinates to the frame's pixels that is right for mouth
// and chin.
func (f *Face) ToMouth() geom.Similarity { return toMouth(f.To, f.Shift) }

func toMouth(to geom.Similarity, shift geom.Point) geom.Similarity {
	return geom.Similarity{A: 1, X: shift.X, Y: shift.Y}.Then(to)
}

// lerp returns the face that is t of the way from a to b, without pixels.
func lerp(a, b *Face, t float32) Face {
	out := *a
	out.Crop = nil
	out.Box = a.Box.Lerp(b.Box, t)
	out.To = a.To.Lerp(b.To, t)
	out.Shift = a.Shift.Lerp(b.Shift, t)
	out.Lips = a.Lips.Lerp(b.Lips, t)
	for i, p := range a.Landmarks {
		out.Landmarks[i] = p.Lerp(b.Landmarks[i], t)
	}
	return out
}
