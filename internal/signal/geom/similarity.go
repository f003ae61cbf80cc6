package geom

import "math"

// Similarity is a rotation, a scaling and a shift of the plane:
// x' = A·x − B·y + X, y' = B·x + A·y + Y.
type Similarity struct{ A, B, X, Y float32 }

// Apply maps a point.
func (s Similarity) Apply(p Point) Point {
	return Point{s.A*p.X - s.B*p.Y + s.X, s.B*p.X + s.A*p.Y + s.Y}
}

// Then returns the similarity that applies s and then t.
func (s Similarity) Then(t Similarity) Similarity {
	o := t.Apply(Point{s.X, s.Y})
	return Similarity{t.A*s.A - t.B*s.B, t.B*s.A + t.A*s.B, o.X, o.Y}
}

// Lerp returns the similarity that is f of the way from s to t.
func (s Similarity) Lerp(t Similarity, f float32) Similarity {
	mix := func(p, q float32) float32 { return p + (q-p)*f }
	return Similarity{mix(s.A, t.A), mix(s.B, t.B), mix(s.X, t.X), mix(s.Y, t.Y)}
}

// Scale returns the factor by which the similarity makes distances longer.
func (s Similarity) Scale() float32 { return float32(math.Hypot(float64(s.A), float64(s.B))) }

// Inverse returns the similarity that undoes s.
func (s Similarity) Inverse() Similarity {
	d := s.A*s.A + s.B*s.B
	i := Similarity{A: s.A / d, B: -s.B / d}
	o := i.Apply(Point{s.X, s.Y})
	i.X, i.Y = -o.X, -o.Y
	return i
}

// Fit returns the similarity that brings the points from nearest to the points
// to, in the least squares sense (Umeyama 1991).
func Fit(from, to []Point) Similarity {
	f, t := Centroid(from...), Centroid(to...)
	var dot, cross, norm float32
	for i := range from {
		ax, ay := from[i].X-f.X, from[i].Y-f.Y
		bx, by := to[i].X-t.X, to[i].Y-t.Y
		dot += ax*bx + ay*by
		cross += ax*by - ay*bx
		norm += ax*ax + ay*ay
	}
	s := Similarity{A: dot / norm, B: cross / norm}
	o := s.Apply(f)
	s.X, s.Y = t.X-o.X, t.Y-o.Y
	return s
}
