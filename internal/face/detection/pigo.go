package detection

import (
	"embed"
	"fmt"
	"slices"

	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// The cascades of esimov/pigo, under the MIT licence beside them.
//
//go:embed pigo/facefinder pigo/puploc pigo/lp*
var cascadeFiles embed.FS

// cascades find faces and their landmarks by their luma. They are a Detector that needs no model.
type cascades struct {
	faces  *faceCascade
	pupil  *pointCascade
	points []pointDetector
}

// pointDetector finds a landmark from the places of both pupils.
type pointDetector struct {
	index    int // of the landmark
	cascade  *pointCascade
	mirrored bool
}

func newCascades() (*cascades, error) {
	file, err := cascadeFiles.ReadFile("pigo/facefinder")
	if err != nil {
		return nil, err
	}
	d := &cascades{}
	if d.faces, err = readFaceCascade(file); err != nil {
		return nil, err
	}
	if d.pupil, err = loadPointCascade("puploc"); err != nil {
		return nil, err
	}
	for _, l := range []struct {
		name        string
		left, right int // -1: only once, in the middle
	}{
		{"lp312", LeftOuterEye, RightOuterEye}, {"lp38", LeftInnerEye, RightInnerEye}, {"lp46", LeftBrow, RightBrow},
		{"lp93", Nose, -1}, {"lp84", LeftCorner, RightCorner}, {"lp81", UpperLip, -1}, {"lp82", LowerLip, -1},
	} {
		c, err := loadPointCascade(l.name)
		if err != nil {
			return nil, err
		}
		d.points = append(d.points, pointDetector{l.left, c, false})
		if l.right >= 0 {
			d.points = append(d.points, pointDetector{l.right, c, true})
		}
	}
	return d, nil
}

func loadPointCascade(name string) (*pointCascade, error) {
	b, err := cascadeFiles.ReadFile("pigo/" + name)
	if err != nil {
		return nil, err
	}
	c, err := readPointCascade(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

// detection is a face that the face cascade found.
type detection struct {
	box     Box
	quality float32 // sum of the scores of its windows
}

// The search for a point starts at these places, for which the cascades were trained. Those of pupils are shares of the
// side of a box, the others shares of the distance of the pupils.
const (
	pupilAside  = .18  // to each side of the centre of the box
	pupilAbove  = .075 // above the centre of the box
	pupilScale  = .25  // scale of the pupils' cascade
	pointBelow  = .25  // below the point between the pupils
	pointAside  = .15  // to the right of it, also in mirrored searches
	pointsScale = 3    // scale of the other cascades
)

// Limits of the places of the pupils, by eye.
const (
	leastEyes, mostEyes = .2, .6 // their distance, as a share of the box's side
	mostRise            = .6     // height of one above the other, as a share of their distance: 37°
)

// detect returns the faces of a picture with sides from smallest to largest pixels. step is the distance from window to
// window, as a share of the side.
func (d *cascades) detect(p pixels.Plane[uint8], smallest, largest int, step float64) []detection {
	var found []detection
	for _, f := range merge(d.faces.find(p, max(smallest, smallestWindow), min(largest, p.Width, p.Height), step)) {
		found = append(found, detection{Box{float32(f.col), float32(f.row), float32(f.side)}, f.score})
	}
	return found
}

// landmarks returns the landmarks of the face in a box, and whether the places of its pupils are possible.
func (d *cascades) landmarks(p pixels.Plane[uint8], b Box) (Landmarks, bool) {
	var q Landmarks
	q[LeftPupil] = d.pupil.find(p, geom.Point{X: b.X - pupilAside*b.Size, Y: b.Y - pupilAbove*b.Size}, pupilScale*b.Size, false)
	q[RightPupil] = d.pupil.find(p, geom.Point{X: b.X + pupilAside*b.Size, Y: b.Y - pupilAbove*b.Size}, pupilScale*b.Size, false)
	eyes := geom.Distance(q[LeftPupil], q[RightPupil])
	rise := q[RightPupil].Y - q[LeftPupil].Y
	if eyes < leastEyes*b.Size || eyes > mostEyes*b.Size || rise > mostRise*eyes || rise < -mostRise*eyes {
		return q, false
	}
	d.place(p, &q, nil)
	return q, true
}

// place finds landmarks by the places of the pupils: those listed in only, or all if only is nil.
func (d *cascades) place(p pixels.Plane[uint8], q *Landmarks, only []int) {
	left, right := q[LeftPupil], q[RightPupil]
	eyes := geom.Distance(left, right)
	start := geom.Point{X: (left.X + right.X) / 2, Y: (left.Y+right.Y)/2 + pointBelow*eyes}
	start.X += pointAside * eyes
	for _, l := range d.points {
		if only == nil || slices.Contains(only, l.index) {
			q[l.index] = l.cascade.find(p, start, pointsScale*eyes, l.mirrored)
		}
	}
}
