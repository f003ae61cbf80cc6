package face

import (
	"embed"
	"fmt"
	"sync"

	pigo "github.com/esimov/pigo/core"
)

// The cascades of esimov/pigo, under the MIT licence beside them.
//
//go:embed cascade/facefinder cascade/puploc cascade/lp*
var cascades embed.FS

// detector finds faces and their landmarks in grey pictures, by the cascades of
// pigo. It is a Finder that needs nothing.
type detector struct {
	faces  *pigo.Pigo
	pupil  *pointCascade
	points []landmark
}

// landmark is a point that starts from both pupils.
type landmark struct {
	index    int
	cascade  *pointCascade
	mirrored bool
}

func newDetector() (*detector, error) {
	file, err := cascades.ReadFile("cascade/facefinder")
	if err != nil {
		return nil, err
	}
	d := &detector{}
	if d.faces, err = pigo.NewPigo().Unpack(file); err != nil {
		return nil, fmt.Errorf("face cascade: %w", err)
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
		d.points = append(d.points, landmark{l.left, c, false})
		if l.right >= 0 {
			d.points = append(d.points, landmark{l.right, c, true})
		}
	}
	return d, nil
}

func loadPointCascade(name string) (*pointCascade, error) {
	b, err := cascades.ReadFile("cascade/" + name)
	if err != nil {
		return nil, err
	}
	c, err := readPointCascade(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

// sighting is where the face cascade says a face is, and how sure it is.
type sighting struct {
	box     Box
	quality float32
}

// find returns the faces of a picture whose sides are from smallest to largest
// pixels, searched with a step of the share of the side.
func (d *detector) find(p plane, smallest, largest int, step float64) []sighting {
	all := d.faces.RunCascade(pigo.CascadeParams{
		MinSize: max(smallest, 20), MaxSize: min(largest, p.width, p.height), ShiftFactor: step, ScaleFactor: 1.1,
		ImageParams: pigo.ImageParams{Pixels: p.pix, Rows: p.height, Cols: p.width, Dim: p.stride},
	}, 0)
	var found []sighting
	for _, f := range d.faces.ClusterDetections(all, .2) {
		found = append(found, sighting{Box{float32(f.Col), float32(f.Row), float32(f.Scale)}, f.Q})
	}
	return found
}

// landmarks returns the points of the face in the box, and whether the pupils
// are where those of a face can be.
func (d *detector) landmarks(p plane, b Box) (Points, bool) {
	var q Points
	q[LeftPupil] = d.pupil.find(p, Point{b.X - .18*b.Size, b.Y - .075*b.Size}, .25*b.Size, false)
	q[RightPupil] = d.pupil.find(p, Point{b.X + .18*b.Size, b.Y - .075*b.Size}, .25*b.Size, false)
	eyes := Distance(q[LeftPupil], q[RightPupil])
	rise := q[RightPupil].Y - q[LeftPupil].Y
	if eyes < .2*b.Size || eyes > .6*b.Size || rise > .6*eyes || rise < -.6*eyes {
		return q, false
	}
	start := Point{(q[LeftPupil].X + q[RightPupil].X) / 2, (q[LeftPupil].Y+q[RightPupil].Y)/2 + .25*eyes}
	start.X += .15 * eyes // as the cascades were trained, also where mirrored
	var wait sync.WaitGroup
	for _, l := range d.points {
		wait.Go(func() { q[l.index] = l.cascade.find(p, start, 3*eyes, l.mirrored) })
	}
	wait.Wait()
	return q, true
}
