package face

import "math"

// Look is how a person looks between brows and nose: the aligned band without
// its slow shades, which are of the light and not of the person, scaled to
// length 1.
type Look [bandWidth * bandHeight]float32

// Look returns what the aligner has learned of the person. There is nothing
// before the first Align.
func (a *Aligner) Look() *Look {
	const around = bandScale / 4 // half the side of the square whose mean is the shade
	l := new(Look)
	var sum float64
	for y := range bandHeight {
		for x := range bandWidth {
			v := a.look[y*bandWidth+x] - a.look.mean(x-around, y-around, x+around, y+around)
			l[y*bandWidth+x] = v
			sum += float64(v * v)
		}
	}
	scale := float32(1 / math.Sqrt(sum+1e-9))
	for i := range l {
		l[i] *= scale
	}
	return l
}

// mean returns the mean of the band from left, top to right, bottom, both
// included, as far as there is any.
func (b *bandImage) mean(left, top, right, bottom int) float32 {
	left, top, right, bottom = max(left, 0), max(top, 0), min(right, bandWidth-1), min(bottom, bandHeight-1)
	var sum float32
	for y := top; y <= bottom; y++ {
		for _, v := range b[y*bandWidth+left : y*bandWidth+right+1] {
			sum += v
		}
	}
	return sum / float32((right-left+1)*(bottom-top+1))
}

// Likeness tells how alike two looks are: 1 if they are the same, around 0 if
// they have nothing in common.
func (l *Look) Likeness(other *Look) (sum float32) {
	for i, v := range l {
		sum += v * other[i]
	}
	return sum
}
