package conv

// windows is the source of a convolution after one of each channel alone, with windows of 3×3 pixels.
type windows struct {
	from, to       *tensor
	stride, before int       // before is the number of pixels by which the first window reaches over the border
	weights        []float32 // for each panel of lanes channels: the nine weights by row and column, then the bias
}

// taps is the number of weights and biases of a channel.
const taps = 9 + 1

func (s windows) matrix(r *run, h *hand, y, rows int) ([]float32, int) {
	pitch, width := s.from.pitch(), s.to.width
	w := &h.window
	*w = window{weights: s.weights, panels: pitch / lanes, pitch: pitch, step: s.stride * pitch, pixels: width}
	if s.stride == 1 { // rows follow one another in both tensors
		w.pixels, rows = rows*(width+1)-1, 1
	}
	for i := range rows {
		first := (y+i)*s.stride - s.before
		above := s.from.row(first) - s.before*pitch
		row := s.from.row(1) - s.from.row(0)
		w.above, w.centre, w.below = r.tensors[above:], r.tensors[above+row:], r.tensors[above+2*row:]
		w.out = h.matrix[i*(width+1)*pitch:]
		w.run()
	}
	return h.matrix, pitch
}

// depthwise is a layer of windows, without a product.
type depthwise struct{ windows }

func (d depthwise) parts() int { return d.to.parts() }

func (d depthwise) compute(r *run, h *hand, part int) {
	y, rows := d.to.part(part)
	numbers, pitch := d.matrix(r, h, y, rows)
	copy(r.tensors[d.to.row(y):], numbers[:(rows*(d.to.width+1)-1)*pitch])
	d.to.border(r, y, rows)
}
