package face

import (
	"image"
	"math"
)

// imprint is how a face looks in one frame, coarsely: its luma from above the
// brows to the upper lip, around the mean.
type imprint [imprintWidth * imprintHeight]float32

// The imprint's area, in distances of the eyes from between them, and its pixels
// a unit. On clips of people who speak and turn, one person's imprint resembles
// that of the frames before by .8 and more, and another's by .7 at most.
const (
	imprintLeft, imprintTop     = -1, -.6
	imprintScale                = 10
	imprintWidth, imprintHeight = 20, 14
)

func imprintOf(frame *image.YCbCr, f Face) (p imprint) {
	// The corners of an eye stay where they are when it looks aside or blinks.
	left := centroid([]Point{f.Points[LeftOuterEye], f.Points[LeftInnerEye]})
	right := centroid([]Point{f.Points[RightInnerEye], f.Points[RightOuterEye]})
	to := Fit([]Point{{-.5, 0}, {.5, 0}}, []Point{left, right})
	s := newSampler(frame, to.Scale()/imprintScale)
	var mean float32
	for y := range imprintHeight {
		for x := range imprintWidth {
			q := to.Apply(Point{imprintLeft + (float32(x)+.5)/imprintScale, imprintTop + (float32(y)+.5)/imprintScale})
			v := s.luma(q.X, q.Y)
			p[y*imprintWidth+x] = v
			mean += v / float32(len(p))
		}
	}
	for i := range p {
		p[i] -= mean
	}
	return p
}

// likeness is the correlation of two imprints: 1 if they are the same in any
// light.
func (p *imprint) likeness(q *imprint) float32 {
	var pq, pp, qq float32
	for i, v := range p {
		pq, pp, qq = pq+v*q[i], pp+v*v, qq+q[i]*q[i]
	}
	return pq / float32(math.Sqrt(float64(pp*qq)+1e-9))
}
