package tracking

import (
	"image"

	"lipsync/internal/face/detection"
	"lipsync/internal/face/registration"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// track is one person in the current shot.
type track struct {
	Face
	appearance appearance             // mean of the last frames
	template   *registration.Template // of eyes and nose, from the frame in which the face was last confirmed
	to         geom.Similarity        // from the template's coordinates to the last frame
	move       geom.Similarity        // of the face, between the last two frames in which it was found, if registration found it
	velocity   geom.Point             // of the face, pixels from one tracked frame to the next
	unsure     int                    // tracked frames since the face was last confirmed by detection
	misses     int                    // tracked frames since the face was last found
	seen       *Seen                  // the frame in which it was last found
	index      int                    // of its face there
}

// templateGrid reaches from the brows to the base of the nose, in the coordinates of eyesOf.
var templateGrid = registration.Grid{Left: -.75, Top: -.3, Scale: 24, Width: 36, Height: 24}

// newTrack returns a track with its first face. It returns nil if hardly any of the face is in the frame.
func newTrack(number int, frame *image.YCbCr, f detection.Face) *track {
	crop := cropOf(frame, f, geom.Point{})
	if crop == nil {
		return nil
	}
	k := &track{Face: Face{Track: number, Face: f, Crop: crop}, appearance: appearanceOf(crop, f.Landmarks)}
	k.learn()
	return k
}

// A crop reaches this far from the point between the pupils on the face, in units of their distance: from above the brows to below the
// chin. That is all that registration, speaker detection and engines read.
const cropAside, cropAbove, cropBelow = 1.35, .8, 2.15

// cropOf copies the pixels around a face that has moved since it was found. It returns nil if hardly any of the face is in
// the frame.
func cropOf(frame *image.YCbCr, f detection.Face, moved geom.Point) *pixels.Crop {
	eyes := f.Eyes()
	c := geom.Centroid(f.Landmarks[detection.LeftPupil], f.Landmarks[detection.RightPupil])
	c.X, c.Y = c.X+moved.X, c.Y+moved.Y
	if r := frame.Rect; !(c.X > float32(r.Min.X)-eyes && c.X < float32(r.Max.X)+eyes && eyes < float32(r.Dx()+r.Dy())) {
		return nil // for NaN too
	}
	left, right := f.Landmarks[detection.LeftPupil], f.Landmarks[detection.RightPupil]
	return pixels.NewCrop(frame, around(geom.Similarity{A: right.X - left.X, B: right.Y - left.Y, X: c.X, Y: c.Y}), eyes)
}

// around returns the pixels of a crop: an upright rectangle that holds the turned one of the face. to is the similarity to the frame
// from coordinates whose origin lies between the pupils and whose unit is their distance.
func around(to geom.Similarity) (area image.Rectangle) {
	for i, corner := range [4]geom.Point{{X: -cropAside, Y: -cropAbove}, {X: cropAside, Y: -cropAbove}, {X: -cropAside, Y: cropBelow}, {X: cropAside, Y: cropBelow}} {
		at := to.Apply(corner)
		x, y := int(at.X), int(at.Y)
		if i == 0 {
			area = image.Rect(x, y, x, y)
		}
		area.Min.X, area.Min.Y = min(area.Min.X, x), min(area.Min.Y, y)
		area.Max.X, area.Max.Y = max(area.Max.X, x), max(area.Max.Y, y)
	}
	return area
}

// learn sets the template to the face as it is now.
func (k *track) learn() {
	k.to = eyesOf(k.Landmarks)
	pix := make([]float32, templateGrid.Width*templateGrid.Height)
	templateGrid.Sample(pix, k.Crop, k.to)
	k.template = registration.NewTemplate(templateGrid, pix)
}

// eyesOf returns the similarity to the frame from coordinates whose origin lies between the eyes and whose unit is their
// distance. It uses the corners of the eyes, which stay in place when eyes turn or blink.
func eyesOf(l detection.Landmarks) geom.Similarity {
	left := geom.Centroid(l[detection.LeftOuterEye], l[detection.LeftInnerEye])
	right := geom.Centroid(l[detection.RightInnerEye], l[detection.RightOuterEye])
	return geom.Fit([]geom.Point{{X: -.5}, {X: .5}}, []geom.Point{left, right})
}

// leastMatch is the least NCC of a face with its template. A face with less is turned or hidden, and detection decides.
// By eye.
const leastMatch = .8

// register returns the similarity from the template's coordinates to a crop of the next frame, and whether the track's
// face was found there.
func (k *track) register(crop *pixels.Crop) (moved geom.Similarity, ok bool) {
	start := k.to
	start.X, start.Y = start.X+k.velocity.X, start.Y+k.velocity.Y
	motion, match, ok := k.template.Register(crop, start)
	if !ok || match < leastMatch {
		return k.to, false
	}
	return templateGrid.Similarity(motion).Then(start), true
}

// carried returns a face after a motion. The box keeps its size, since a head that turns away doesn't become smaller.
func carried(f detection.Face, move geom.Similarity) detection.Face {
	for i, p := range f.Landmarks {
		f.Landmarks[i] = move.Apply(p)
	}
	f.Lips = f.Lips.Map(move)
	c := move.Apply(f.Box.Centre())
	f.Box.X, f.Box.Y = c.X, c.Y
	return f
}
