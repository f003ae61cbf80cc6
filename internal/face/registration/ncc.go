// Package registration finds the motion of a part of a picture, by the method of Lucas and Kanade with a
// template. It also has normalised cross-correlation (NCC).
package registration

import "math"

// leastEnergy keeps NCC from dividing by 0 where a picture is flat.
const leastEnergy = 1e-9

// NCC returns the normalised cross-correlation of two pictures of the same size, or of two other series of numbers. It
// is 1 if they differ only in brightness and contrast, and about 0 if they have nothing in common or one is flat.
func NCC(a, b []float32) float32 {
	n := float64(len(a))
	var sa, sb, aa, ab, bb float64 // not float32, since its errors would show in the sums of a flat picture
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		sa, sb = sa+x, sb+y
		aa, ab, bb = aa+x*x, ab+x*y, bb+y*y
	}
	return float32((ab - sa*sb/n) / math.Sqrt(max(aa-sa*sa/n, leastEnergy)*max(bb-sb*sb/n, leastEnergy)))
}
