package order

// Curve is the sync score of each moment of an output. All moments are equally long. Each is a digit: ninths of the worst share of what is good
// in the seconds around it. It is '-' if nothing is known of it.
type Curve string

// MostMoments is the largest number of moments of a Curve, which is stored as so many bytes.
const MostMoments = 120

// unknownMoment stands for a moment of which nothing is known.
const unknownMoment = '-'

// Add adds a moment with the worst share of what is good in it, from 0 to 1. Only what is good as a whole has 9 ninths.
func (c *Curve) Add(worst float64, known bool) {
	digit := byte(unknownMoment)
	if known {
		digit = '0' + byte(9*min(1, max(0, worst)))
	}
	*c += Curve(digit)
}

// At returns the worst share of what is good in a moment, in ninths, and whether it is known.
func (c Curve) At(moment int) (worst float64, known bool) {
	digit := c[moment]
	if digit < '0' || digit > '9' {
		return 0, false
	}
	return float64(digit-'0') / 9, true
}
