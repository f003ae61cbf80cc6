package wav2lip

// Channels of the crop are squares of so many pixels each way, row by row.

// spot is a place in the crop, in pixels from the centre of the first.
type spot struct{ x, y float32 }

// linear returns the value of a square between its pixels.
func linear(x []float32, size int, s spot) float32 {
	most := float32(size - 1)
	u, v := min(max(s.x, 0), most), min(max(s.y, 0), most)
	x0, y0 := min(int(u), size-2), min(int(v), size-2)
	fx, fy := u-float32(x0), v-float32(y0)
	i := y0*size + x0
	top := x[i] + (x[i+1]-x[i])*fx
	bottom := x[i+size] + (x[i+size+1]-x[i+size])*fx
	return top + (bottom-top)*fy
}

// cubic is sharper than linear: by Catmull–Rom splines.
func cubic(x []float32, size int, s spot) float32 {
	x0, y0 := int(s.x), int(s.y)
	if s.x < 1 || s.y < 1 || x0+2 >= size || y0+2 >= size {
		return linear(x, size, s)
	}
	wx, wy := catmullRom(s.x-float32(x0)), catmullRom(s.y-float32(y0))
	var sum float32
	for k, w := range wy {
		row := x[(y0-1+k)*size+x0-1:][:4]
		sum += w * (wx[0]*row[0] + wx[1]*row[1] + wx[2]*row[2] + wx[3]*row[3])
	}
	return sum
}

// catmullRom returns the weights of four values for f between the middle two.
func catmullRom(f float32) [4]float32 {
	return [4]float32{
		((-.5*f+1)*f - .5) * f,
		(1.5*f-2.5)*f*f + 1,
		((-1.5*f+2)*f + .5) * f,
		(.5*f - .5) * f * f,
	}
}

// blur replaces each value of a square by the mean of those around it.
func blur(x, scratch []float32, size, across, along int) {
	if across > 0 {
		for y := range size {
			mean(x[y*size:], scratch, size, 1, across)
		}
	}
	if along > 0 {
		for c := range size {
			mean(x[c:], scratch, size, size, along)
		}
	}
}

// mean replaces each of n values, a step apart, by the mean of those up to
// radius away.
func mean(x, scratch []float32, n, step, radius int) {
	for i := range n {
		var sum float32
		from, to := max(i-radius, 0), min(i+radius, n-1)
		for k := from; k <= to; k++ {
			sum += x[k*step]
		}
		scratch[i] = sum / float32(to-from+1)
	}
	for i := range n {
		x[i*step] = scratch[i]
	}
}
