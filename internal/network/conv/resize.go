package conv

// pool is a layer that halves a picture: each pixel is the largest of four.
type pool struct{ from, to *tensor }

func (l pool) parts() int { return l.to.height }

func (l pool) compute(r *run, _ *hand, y int) {
	pitch := l.from.pitch()
	above, below, out := r.tensors[l.from.row(2*y):], r.tensors[l.from.row(2*y+1):], r.tensors[l.to.row(y):]
	for x := range l.to.width {
		at := 2 * x * pitch
		a, b := above[at:][:pitch], above[at+pitch:][:pitch]
		c, d, o := below[at:][:pitch], below[at+pitch:][:pitch], out[x*pitch:][:pitch]
		for i := range o {
			o[i] = max(max(a[i], b[i]), max(c[i], d[i]))
		}
	}
	l.to.border(r, y, 1)
}

// double is a layer that doubles a picture, with bilinear interpolation between the middles of pixels, and adds another to it.
type double struct{ from, add, to *tensor }

func (l double) parts() int { return l.to.height }

func (l double) compute(r *run, h *hand, y int) {
	pitch, width := l.from.pitch(), l.from.width
	near, far := r.tensors[l.from.row(y/2):], r.tensors[l.from.row(beside(y, l.from.height)):]
	blended := h.matrix[:width*pitch]
	for i := range blended {
		blended[i] = .75*near[i] + .25*far[i]
	}
	add, out := r.tensors[l.add.row(y):], r.tensors[l.to.row(y):]
	for x := range l.to.width {
		near, far := blended[x/2*pitch:][:pitch], blended[beside(x, width)*pitch:][:pitch]
		a, o := add[x*pitch:][:pitch], out[x*pitch:][:pitch]
		for i := range o {
			o[i] = .75*near[i] + .25*far[i] + a[i]
		}
	}
	l.to.border(r, y, 1)
}

// beside returns the second row or column, of a number of them, from which a row or column of the doubled picture is
// interpolated. The first is that of half its index.
func beside(i, of int) int {
	return max(0, min(of-1, i/2+2*(i%2)-1))
}

// spread is a layer that makes a square of four pixels of each pixel, whose channels have theirs one after the other.
type spread struct{ from, to *tensor }

func (l spread) parts() int { return l.to.height }

func (l spread) compute(r *run, _ *hand, y int) {
	in, out, channels := l.from.pitch(), l.to.pitch(), l.to.channels
	from, to := r.tensors[l.from.row(y/2):], r.tensors[l.to.row(y):]
	for x := range l.to.width {
		o := to[x*out:][:out]
		clear(o[copy(o, from[x/2*in+(y%2*2+x%2)*channels:][:channels]):])
	}
	l.to.border(r, y, 1)
}
