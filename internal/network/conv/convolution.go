package conv

// convolution multiplies a row of numbers of each pixel by a matrix. It adds biases, and the tensor add if there is one;
// then it multiplies what is below 0 by the slope of the channel.
type convolution struct {
	source
	to, add               *tensor
	depth                 int       // floats of a pixel that are multiplied
	weights, bias, slopes []float32 // weights for each panel of lanes channels: depth times lanes
}

// source makes the rows of numbers that a convolution multiplies, or that are its result.
type source interface {
	// matrix returns the numbers of the pixels of some rows of the result, and how many floats one pixel is from the next. Between
	// two rows lies one pixel that doesn't count.
	matrix(r *run, h *hand, y, rows int) (numbers []float32, pitch int)
}

// Block is the number of pixels, or of rows of a Matrix, that a kernel multiplies at once.
const Block = 12

// most is the number of pixels for which a convolution makes a matrix at once, unless one row has more.
const most = 24 * Block

// together returns how many rows of a tensor a core computes at once: few pixels are left over by the blocks of that many rows.
func (t *tensor) together() int {
	if t.width%Block == 0 {
		return 1
	}
	return max(1, min(t.height, most/(t.width+1)))
}

// parts returns the number of parts of the tensor. Each has together rows, but the last may have fewer.
func (t *tensor) parts() int { return (t.height + t.together() - 1) / t.together() }

// part returns the first row of a part, and the number of its rows.
func (t *tensor) part(i int) (y, rows int) {
	y = i * t.together()
	return y, min(t.together(), t.height-y)
}

func (c *convolution) parts() int { return c.to.parts() }

func (c *convolution) compute(r *run, h *hand, part int) {
	y, rows := c.to.part(part)
	numbers, pitch := c.matrix(r, h, y, rows)
	c.multiply(r, h, y, rows*(c.to.width+1)-1, numbers, pitch)
	c.to.border(r, y, rows)
}

// multiply computes a number of pixels from row y on.
func (c *convolution) multiply(r *run, h *hand, y, pixels int, numbers []float32, pitch int) {
	out, p := r.tensors[c.to.row(y):], &h.product
	*p = product{
		weights: c.weights, bias: c.bias, slopes: c.slopes, depth: c.depth, panels: len(c.bias) / lanes,
		inPitch: pitch, outPitch: c.to.pitch(),
	}
	var add []float32
	if c.add != nil {
		add, p.addPitch, p.addPanels = r.tensors[c.add.row(y):], c.add.pitch(), c.add.pitch()/lanes
	}
	for i := 0; i < pixels; i += Block {
		p.in, p.out, p.pixels = numbers[i*pitch:], out[i*p.outPitch:], min(Block, pixels-i)
		if add != nil {
			p.add = add[i*p.addPitch:]
		}
		if p.pixels < Block {
			p.out = h.rest
		}
		p.run()
		if p.pixels < Block {
			copy(out[i*p.outPitch:], h.rest[:p.pixels*p.outPitch])
		}
	}
}

// pixels is the source of a product of each pixel of a tensor alone.
type pixels struct{ from *tensor }

func (s pixels) matrix(r *run, _ *hand, y, _ int) ([]float32, int) {
	return r.tensors[s.from.row(y):], s.from.pitch()
}

// whole is the source of one product of all pixels of a tensor.
type whole struct{ from *tensor }

func (s whole) matrix(r *run, h *hand, _, _ int) ([]float32, int) {
	row := s.from.width * s.from.pitch()
	for y := range s.from.height {
		copy(h.matrix[y*row:][:row], r.tensors[s.from.row(y):])
	}
	return h.matrix, 0
}

// colours is the number of channels of an input.
const colours = 3

// A patch is a window of 3×3 pixels of the input, by row, column and colour, and a zero.
const (
	patch      = 9 * colours
	patchPitch = patch + 1
)

// patches is the source of a convolution of the input.
type patches struct {
	to                   *tensor
	side, stride, before int // before is the number of pixels by which the first window reaches over the border
}

func (s patches) matrix(r *run, h *hand, y, rows int) ([]float32, int) {
	plane, row := s.side*s.side, s.side+2
	for i := range rows {
		for k := range 3 {
			above := (y+i)*s.stride - s.before + k
			for c := range colours {
				padded := h.rows[(k*colours+c)*row+1:][:s.side]
				if above < 0 || above >= s.side {
					clear(padded)
				} else {
					copy(padded, r.input[c*plane+above*s.side:])
				}
			}
		}
		for k := range 3 * colours {
			from := h.rows[k*row+1-s.before:][:row-1+s.before]
			to := h.matrix[i*(s.to.width+1)*patchPitch+k/colours*patch/3+k%colours:]
			for x := range s.to.width {
				window, numbers := from[x*s.stride:][:3], to[x*patchPitch:][:2*colours+1]
				numbers[0], numbers[colours], numbers[2*colours] = window[0], window[1], window[2]
			}
		}
	}
	return h.matrix, patchPitch
}
