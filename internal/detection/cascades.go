package detection

import (
	"context"
	"image"

	"lipsync/internal/geom"
	"lipsync/internal/pixels"
)

const (
	smallestWindow = 20  // side of the smallest face that the cascade knows, pixels
	leastQuality   = 12  // of a face that Detect returns
	stillQuality   = 2   // of one that Locate goes on with
	landmarkScale  = 180 // side of a face where its landmarks are searched, pixels
)

// Detect implements Detector. It looks at a picture in which the smallest face
// is just large enough for the cascade.
func (d *cascades) Detect(_ context.Context, frame *image.YCbCr, smallest float64) (found []Box, err error) {
	least := smallest * float64(min(frame.Rect.Dx(), frame.Rect.Dy()))
	factor := max(1, int(least/smallestWindow))
	p := pixels.Shrink(frame, frame.Rect, factor)
	for _, s := range d.detect(p, int(least)/factor, max(p.Width, p.Height), .1) {
		if s.quality >= leastQuality {
			found = append(found, s.box.scale(float32(factor), geom.Point{}))
		}
	}
	return found, nil
}

// Locate implements Detector.
func (d *cascades) Locate(_ context.Context, frame *image.YCbCr, near Face) (f Face, ok bool, err error) {
	a, ok := around(frame, near.Box)
	if !ok {
		return Face{}, false, nil
	}
	size := near.Box.Size / a.factor
	var best detection
	for _, s := range d.detect(a.plane, int(.85*size), int(1.2*size), .08) {
		b := s.box.scale(a.factor, a.origin)
		if s.quality > best.quality && geom.Distance(b.Centre(), near.Box.Centre()) < .4*near.Box.Size {
			best = s
		}
	}
	if best.quality < stillQuality {
		return Face{}, false, nil
	}
	f.Landmarks, ok = d.landmarks(a.plane, best.box)
	for i, q := range f.Landmarks {
		f.Landmarks[i] = scale(q, a.factor, a.origin)
	}
	f.Box = best.box.scale(a.factor, a.origin)
	return f, ok, nil
}

// LocateMouth implements Detector.
func (d *cascades) LocateMouth(_ context.Context, frame *image.YCbCr, f *Face) error {
	a, ok := around(frame, f.Box)
	if !ok {
		return nil
	}
	var q Landmarks
	for _, k := range []int{LeftPupil, RightPupil} {
		q[k] = geom.Point{
			X: (f.Landmarks[k].X-a.origin.X+.5)/a.factor - .5,
			Y: (f.Landmarks[k].Y-a.origin.Y+.5)/a.factor - .5,
		}
	}
	d.place(a.plane, &q, Mobile())
	for _, k := range Mobile() {
		f.Landmarks[k] = scale(q[k], a.factor, a.origin)
	}
	return nil
}

// surroundings are the pixels around a face, small enough for its landmarks.
type surroundings struct {
	plane  pixels.Plane[uint8]
	factor float32    // pixels of the frame to one of the plane
	origin geom.Point // of the plane in the frame
}

// around returns the surroundings of a box, and whether there are any.
func around(frame *image.YCbCr, box Box) (surroundings, bool) {
	factor := max(1, int(box.Size/landmarkScale+.5))
	half := int(.8 * box.Size)
	area := image.Rect(int(box.X)-half, int(box.Y)-half, int(box.X)+half, int(box.Y)+half).Intersect(frame.Rect)
	if area.Dx() < 2*factor || area.Dy() < 2*factor {
		return surroundings{}, false
	}
	return surroundings{pixels.Shrink(frame, area, factor), float32(factor),
		geom.Point{X: float32(area.Min.X), Y: float32(area.Min.Y)}}, true
}

// scale maps a point of a picture shrunk by the factor to the frame that it was
// cut from at the origin.
func scale(q geom.Point, factor float32, origin geom.Point) geom.Point {
	return geom.Point{X: origin.X + (q.X+.5)*factor - .5, Y: origin.Y + (q.Y+.5)*factor - .5}
}

func (b Box) scale(factor float32, origin geom.Point) Box {
	q := scale(b.Centre(), factor, origin)
	return Box{q.X, q.Y, b.Size * factor}
}
