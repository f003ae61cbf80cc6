package pixels

import "image"

// Shrink returns the luma of an area of the frame. Each of its pixels is the mean of
// factor by factor pixels of the frame. With a factor of 1 it shares the frame's
// pixels.
func Shrink(frame *image.YCbCr, area image.Rectangle, factor int) Plane[uint8] {
	p := Plane[uint8]{Width: area.Dx() / factor, Height: area.Dy() / factor}
	p.Stride = p.Width
	if factor == 1 {
		p.Pix, p.Stride = frame.Y[frame.YOffset(area.Min.X, area.Min.Y):], frame.YStride
		return p
	}
	p.Pix = make([]uint8, p.Width*p.Height)
	sums := make([]uint32, p.Width)
	for y := range p.Height {
		clear(sums)
		for dy := range factor {
			row := frame.Y[frame.YOffset(area.Min.X, area.Min.Y+y*factor+dy):][:p.Width*factor]
			addGroups(sums, row, factor)
		}
		for x, s := range sums {
			p.Pix[y*p.Width+x] = uint8(s / uint32(factor*factor))
		}
	}
	return p
}

// addGroups adds to each sum the next n values of a row.
func addGroups(sums []uint32, row []uint8, n int) {
	if n == 2 { // the usual factor; without the inner loop it takes half the time
		for x := range sums {
			sums[x] += uint32(row[2*x]) + uint32(row[2*x+1])
		}
		return
	}
	for x := range sums {
		var sum uint32
		for _, v := range row[x*n : (x+1)*n] {
			sum += uint32(v)
		}
		sums[x] += sum
	}
}

// blur returns the plane filtered by the weights 1 2 1, along rows and columns.
func blur(p Plane[uint8]) Plane[uint8] {
	out := NewPlane[uint8](p.Width, p.Height)
	columns := make([]uint16, p.Width)
	for y := range p.Height {
		above, here, below := p.Row(y - 1)[:len(columns)], p.Row(y)[:len(columns)], p.Row(y + 1)[:len(columns)]
		for x := range columns {
			columns[x] = uint16(above[x]) + 2*uint16(here[x]) + uint16(below[x])
		}
		row, last := out.Row(y), len(columns)-1
		left := columns[0]
		for x, right := range columns[1:] {
			c := columns[x]
			row[x] = uint8((left + 2*c + right + 8) / 16)
			left = c
		}
		row[last] = uint8((left + 3*columns[last] + 8) / 16)
	}
	return out
}

// BoxBlur replaces each value of a plane by the mean of the values that are at most
// across columns and along rows away. scratch has at least as many values as the
// plane has columns, and rows.
func BoxBlur(p Plane[float32], scratch []float32, across, along int) {
	if across > 0 {
		for y := range p.Height {
			boxMean(p.Pix[y*p.Stride:], scratch[:p.Width], 1, across)
		}
	}
	if along > 0 {
		for x := range p.Width {
			boxMean(p.Pix[x:], scratch[:p.Height], p.Stride, along)
		}
	}
}

// boxMean replaces each of len(scratch) values of x, which are step apart, by the mean of
// the values that are at most radius values away.
func boxMean(x, scratch []float32, step, radius int) {
	n := len(scratch)
	var sum float64 // of the values around i; not float32, since the errors of a running sum add up
	for i := range scratch {
		scratch[i] = x[i*step]
		if i < radius {
			sum += float64(scratch[i])
		}
	}
	for i := range scratch {
		var enters, leaves float32
		from, to := 0, n-1
		if i+radius < n {
			to = i + radius
			enters = scratch[to]
		}
		if i > radius {
			from = i - radius
			leaves = scratch[from-1]
		}
		sum += float64(enters) - float64(leaves)
		x[i*step] = float32(sum / float64(to-from+1))
	}
}
