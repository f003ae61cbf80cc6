// Package registration finds how a part of a picture moved: by Lucas–Kanade on a
// template, with sub-pixel precision, and by normalised cross-correlation.
package registration

import "math"

// NCC returns the normalised cross-correlation of two pictures of one size: 1 if
// they differ only in brightness and contrast, around 0 if they have nothing in
// common or one of them shows nothing.
func NCC(a, b []float32) float32 {
	n := float32(len(a))
	var sa, sb, aa, ab, bb float32
	for i, x := range a {
		y := b[i]
		sa, sb = sa+x, sb+y
		aa, ab, bb = aa+x*x, ab+x*y, bb+y*y
	}
	return (ab - sa*sb/n) / float32(math.Sqrt(float64(max(aa-sa*sa/n, 1e-9))*float64(max(bb-sb*sb/n, 1e-9))))
}
