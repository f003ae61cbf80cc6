// Package registration finds how a part of a picture moved: by Lucas–Kanade on a
// template, with sub-pixel precision, and by normalised cross-correlation.
package registration

import "math"

// NCC returns the normalised cross-correlation of two pictures of one size, or of two
// other series of numbers: 1 if they differ only in brightness and contrast, around 0
// if they have nothing in common or one of them shows nothing.
func NCC(a, b []float32) float32 {
	n := float64(len(a))
	var sa, sb, aa, ab, bb float64 // as sums of float32 a flat picture would show their errors
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		sa, sb = sa+x, sb+y
		aa, ab, bb = aa+x*x, ab+x*y, bb+y*y
	}
	return float32((ab - sa*sb/n) / math.Sqrt(max(aa-sa*sa/n, 1e-9)*max(bb-sb*sb/n, 1e-9)))
}
