package occlusion

// usual is what the cells of a person look like in most views: the median of each channel, and its standard deviation as the median
// of the absolute deviations gives it. Less than half of the views can't change these much, whatever they show.
type usual [cells]struct{ middle, spread [channels]float32 }

// Deviations that are never unusual, since light and noise make them.
const (
	lightShare    = .1   // of luma: on a cheek at 45° to the light that is a turn of the head by 6°, by the cosine law
	contrastShare = .03  // of luma: a cell is a third as wide as a cheek's shading
	noise         = 1.5  // levels: rounding and coding
	normal        = 1.48 // the ratio of the standard deviation of a normal distribution to its median absolute deviation
)

// usualOf returns what is usual in the views that are seen.
func usualOf(views []view) *usual {
	u := new(usual)
	for c := range u {
		for k := range channels {
			var counts [256]int
			n := 0
			for i := range views {
				if views[i].seen {
					counts[views[i].colours[c][k]]++
					n++
				}
			}
			middle := medianOf(&counts, n)
			var off [256]int
			for v, count := range counts {
				off[max(v-middle, middle-v)] += count
			}
			u[c].middle[k], u[c].spread[k] = float32(middle), normal*float32(medianOf(&off, n))
		}
		bright := max(u[c].middle[luma]-black, 0)
		for k, least := range [channels]float32{luma: lightShare*bright + noise, blue: noise, red: noise, contrast: contrastShare*bright + noise} {
			u[c].spread[k] = max(u[c].spread[k], least)
		}
	}
	return u
}

// medianOf returns the median of n values. counts has the number of times that each value is there.
func medianOf(counts *[256]int, n int) int {
	for v, count := range counts {
		if n -= 2 * count; n <= 0 {
			return v
		}
	}
	return 0
}

// off returns the square of the distance of a colour from what is usual in a cell: the sum of the squares of the deviations of its
// channels, in standard deviations.
func (u *usual) off(c int, v *colour) (sum float32) {
	for k, x := range v {
		d := (float32(x) - u[c].middle[k]) / u[c].spread[k]
		sum += d * d
	}
	return sum
}

// How foreign a cell is: the distance of its colour from what is usual, by 3 × 3 cells. A surely foreign one is so by itself too, or a wide
// mouth and a neck would be one thing, over a chin of two cells.
const (
	foreign = 3 // standard deviations of one channel, or half as many of all four
	surely  = 6
)

// degree is how foreign a cell is.
type degree uint8

const (
	own degree = iota
	strange
	alien
)

// degrees sets out to how foreign the cells of a view are. It allows for a face that has moved by a cell in any direction: the distance of
// a cell and its neighbours counts at the shift at which it is least.
func (u *usual) degrees(v *view, out *[cells]degree) {
	var still [cells]float32
	for c := range still {
		still[c] = u.off(c, &v.colours[c])
	}
	for c := range out {
		out[c] = own
		least := around(c, func(n int) float32 { return still[n] })
		for shift := 0; shift < 9 && least > foreign*foreign; shift++ {
			least = min(least, around(c, func(n int) float32 { return u.off(neighbour(n, shift), &v.colours[n]) }))
		}
		switch {
		case least > surely*surely && u.offAround(c, &v.colours[c]) > surely*surely:
			out[c] = alien
		case least > foreign*foreign:
			out[c] = strange
		}
	}
}

// offAround returns the square of the least distance of a colour from what is usual in a cell and in those around it.
func (u *usual) offAround(c int, v *colour) float32 {
	least := u.off(c, v)
	for shift := range 9 {
		least = min(least, u.off(neighbour(c, shift), v))
	}
	return least
}

// neighbour returns one of the 3 × 3 cells around a cell, by its number from 0 to 8. Beyond the border it is the nearest cell.
func neighbour(c, number int) int {
	x, y := c%columns+number%3-1, c/columns+number/3-1
	return min(max(y, 0), rows-1)*columns + min(max(x, 0), columns-1)
}

// around returns the mean of a value over the 3 × 3 cells around a cell.
func around(c int, value func(cell int) float32) (mean float32) {
	for n := range 9 {
		mean += value(neighbour(c, n)) / 9
	}
	return mean
}
