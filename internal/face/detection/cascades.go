package detection

import (
	"context"
	"image"

	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// The constants of the search. By eye, unless a source is given.
const (
	smallestWindow = 20  // side of the smallest face that the cascade finds, pixels
	leastQuality   = 12  // sum of scores of a face that Detect returns, at least
	stillQuality   = 2   // the same for Locate, which searches where a face was found before
	landmarkScale  = 180 // side of a face in the picture in which its landmarks are searched, pixels
	searchStep     = .1  // from window to window, as a share of the side: pigo's own value

	// A face is located again from leastGrowth to mostGrowth times the side of its box, in steps of locateStep
	// of the side, up to mostMove of it away.
	leastGrowth, mostGrowth = .85, 1.2
	locateStep              = .08
	mostMove                = .4
	surroundingsHalf        = .8 // half the side of the picture in which it is searched for, as a share of the box's side
)

// Detect implements Detector. It shrinks the picture before the search, so far that the smallest face is just large
// enough for the cascade.
func (d *cascades) Detect(_ context.Context, frame *image.YCbCr, smallest float64) (found []Box, err error) {
	least := smallest * float64(min(frame.Rect.Dx(), frame.Rect.Dy()))
	factor := max(1, int(least/smallestWindow))
	p := pixels.Shrink(frame, frame.Rect, factor)
	for _, s := range d.detect(p, int(least)/factor, max(p.Width, p.Height), searchStep) {
		if s.quality >= leastQuality {
			found = append(found, s.box.scale(float32(factor), geom.Point{}))
		}
	}
	return found, nil
}

func (d *cascades) Locate(_ context.Context, frame *image.YCbCr, near Face) (f Face, ok bool, err error) {
	a, ok := around(frame, near.Box)
	if !ok {
		return Face{}, false, nil
	}
	size := near.Box.Size / a.factor
	var best detection
	for _, s := range d.detect(a.plane, int(leastGrowth*size), int(mostGrowth*size), locateStep) {
		b := s.box.scale(a.factor, a.origin)
		if s.quality > best.quality && geom.Distance(b.Centre(), near.Box.Centre()) < mostMove*near.Box.Size {
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

func (d *cascades) LocateMouth(_ context.Context, frame *image.YCbCr, f Face) (mouth Landmarks, ok bool, err error) {
	a, ok := around(frame, f.Box)
	if !ok {
		return mouth, false, nil
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
		mouth[k] = scale(q[k], a.factor, a.origin)
	}
	return mouth, true, nil
}

// surroundings is the luma around a face, shrunk so that the face is no larger than about landmarkScale.
type surroundings struct {
	plane  pixels.Plane[uint8]
	factor float32    // pixels of the frame to one of the plane, each way
	origin geom.Point // of the plane in the frame
}

// around returns the surroundings of a box, and whether there are any in the frame.
func around(frame *image.YCbCr, box Box) (surroundings, bool) {
	factor := max(1, int(box.Size/landmarkScale+.5))
	half := int(surroundingsHalf * box.Size)
	area := image.Rect(int(box.X)-half, int(box.Y)-half, int(box.X)+half, int(box.Y)+half).Intersect(frame.Rect)
	if area.Dx() < 2*factor || area.Dy() < 2*factor {
		return surroundings{}, false
	}
	return surroundings{pixels.Shrink(frame, area, factor), float32(factor),
		geom.Point{X: float32(area.Min.X), Y: float32(area.Min.Y)}}, true
}

// scale returns the place in a frame of the point q of a picture, which was cut from the frame at the origin and shrunk
// by the factor.
func scale(q geom.Point, factor float32, origin geom.Point) geom.Point {
	return geom.Point{X: origin.X + (q.X+.5)*factor - .5, Y: origin.Y + (q.Y+.5)*factor - .5}
}

func (b Box) scale(factor float32, origin geom.Point) Box {
	q := scale(b.Centre(), factor, origin)
	return Box{q.X, q.Y, b.Size * factor}
}
