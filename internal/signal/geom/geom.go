// Package geom has points of a picture and the similarities between pictures.
package geom

import "math"

// Point is a place in a picture, in pixels: x to the right, y down, the centre of
// the top left pixel at 0, 0. In canonical coordinates (see package alignment)
// the unit is the distance of the pupils.
type Point struct{ X, Y float32 }

// Distance returns the distance of two points.
func Distance(a, b Point) float32 {
	return float32(math.Hypot(float64(a.X-b.X), float64(a.Y-b.Y)))
}

// Centroid returns the mean of points.
func Centroid(p ...Point) (c Point) {
	for _, q := range p {
		c.X += q.X / float32(len(p))
		c.Y += q.Y / float32(len(p))
	}
	return c
}

// Lerp returns the point that is f of the way from p to q.
func (p Point) Lerp(q Point, f float32) Point {
	return Point{p.X + (q.X-p.X)*f, p.Y + (q.Y-p.Y)*f}
}
