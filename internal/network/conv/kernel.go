package conv

// product is a product of a block of pixels with a matrix. Its slices begin at the first pixel. out must not overlap the others.
type product struct {
	in, weights, bias, slopes, add, out []float32
	inPitch, addPitch, outPitch         int // floats from one pixel to the next
	depth                               int // floats of a pixel of in; a multiple of 4
	panels, addPanels                   int // of lanes channels: of the result, and of what is added to the first of them
	pixels                              int // that count, at most Block; the slices have all
}

// plain computes the product of the pixels that count, in Go.
func (p *product) plain() {
	for i := range p.panels {
		weights := p.weights[i*p.depth*lanes:][:p.depth*lanes]
		bias, slopes := (*[lanes]float32)(p.bias[i*lanes:]), (*[lanes]float32)(p.slopes[i*lanes:])
		for k := range p.pixels {
			out := (*[lanes]float32)(p.out[k*p.outPitch+i*lanes:])
			multiply(out, p.in[k*p.inPitch:][:p.depth], weights, bias)
			if i < p.addPanels {
				for c, x := range (*[lanes]float32)(p.add[k*p.addPitch+i*lanes:]) {
					out[c] += x
				}
			}
			for c, x := range out {
				out[c] = max(x, 0) + slopes[c]*min(x, 0)
			}
		}
	}
}

// multiply computes the products of a pixel with the columns of a panel, plus the biases. The sums are variables so that
// the compiler keeps them in registers.
func multiply(out *[lanes]float32, in, weights []float32, bias *[lanes]float32) {
	a, b, c, d, e, f, g, h := bias[0], bias[1], bias[2], bias[3], bias[4], bias[5], bias[6], bias[7]
	for k, x := range in {
		w := (*[lanes]float32)(weights[k*lanes:])
		a += x * w[0]
		b += x * w[1]
		c += x * w[2]
		d += x * w[3]
		e += x * w[4]
		f += x * w[5]
		g += x * w[6]
		h += x * w[7]
	}
	out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7] = a, b, c, d, e, f, g, h
}

// window is a convolution of each channel alone for pixels of a row. Its slices begin at the window of the first pixel.
type window struct {
	above, centre, below, weights, out []float32
	panels                             int // of lanes channels
	pitch, step                        int // floats from one pixel to the next, and from one window to the next
	pixels                             int
}

// plain computes the pixels in Go, for one channel after the other.
func (w *window) plain() {
	for i := range w.panels * lanes {
		weights := (*[(taps-1)*lanes + 1]float32)(w.weights[i/lanes*taps*lanes+i%lanes:])
		a, b, c := weights[0], weights[lanes], weights[2*lanes]
		d, e, f := weights[3*lanes], weights[4*lanes], weights[5*lanes]
		g, h, j := weights[6*lanes], weights[7*lanes], weights[8*lanes]
		bias := weights[9*lanes]
		above, centre, below, out := w.above[i:], w.centre[i:], w.below[i:], w.out[i:]
		for k := range w.pixels {
			left := k * w.step
			middle, right := left+w.pitch, left+2*w.pitch
			sum := a*above[left] + b*above[middle] + c*above[right]
			sum += d*centre[left] + e*centre[middle] + f*centre[right]
			out[k*w.pitch] = bias + sum + g*below[left] + h*below[middle] + j*below[right]
		}
	}
}
