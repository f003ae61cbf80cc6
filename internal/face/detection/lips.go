package detection

import "lipsync/internal/signal/geom"

// Lips are the edges of a face's lips.
type Lips struct{ Outer, Inner Contour }

// Contour is an edge of both lips: points from its left end to its right one, on the upper lip and on the lower one. Both have the ends.
type Contour struct{ Upper, Lower [ContourPoints]geom.Point }

// ContourPoints is the number of points of a Contour on each lip.
const ContourPoints = 11

// each calls f for each point.
func (l *Lips) each(f func(p *geom.Point)) {
	for _, side := range []*[ContourPoints]geom.Point{&l.Outer.Upper, &l.Outer.Lower, &l.Inner.Upper, &l.Inner.Lower} {
		for i := range side {
			f(&side[i])
		}
	}
}

// Map returns the lips at the places to which a similarity moves them.
func (l Lips) Map(s geom.Similarity) Lips {
	l.each(func(p *geom.Point) { *p = s.Apply(*p) })
	return l
}

// Lerp returns the lips that are t of the way from l to k.
func (l Lips) Lerp(k Lips, t float32) Lips {
	var to []geom.Point
	k.each(func(p *geom.Point) { to = append(to, *p) })
	l.each(func(p *geom.Point) { *p, to = p.Lerp(to[0], t), to[1:] })
	return l
}

// lipPoints are the points of each contour in the networks' order: first those on the lower lip, then those on the upper lip without the
// ends.
const lipPoints = 2*ContourPoints - 2

// lipVertices are the vertices of the mesh at the points of Lips: first the outer contour, then the inner one.
var lipVertices = [2 * lipPoints]int{
	61, 146, 91, 181, 84, 17, 314, 405, 321, 375, 291, 185, 40, 39, 37, 0, 267, 269, 270, 409,
	78, 95, 88, 178, 87, 14, 317, 402, 318, 324, 308, 191, 80, 81, 82, 13, 312, 311, 310, 415,
}

// lipsOf returns the lips of points in the order of lipVertices.
func lipsOf(point func(i int) geom.Point) (l Lips) {
	for k, c := range []*Contour{&l.Outer, &l.Inner} {
		for i := range ContourPoints {
			c.Lower[i], c.Upper[i] = point(k*lipPoints+i), point(k*lipPoints+i)
		}
		for i := 1; i < ContourPoints-1; i++ {
			c.Upper[i] = point(k*lipPoints + ContourPoints - 1 + i)
		}
	}
	return l
}
