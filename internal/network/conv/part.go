package conv

import "math"

// frame is a layer that finds where a part of a face lies by points. Its result has two rows of three numbers: the matrix and
// the shift from pixels of the part's picture to those of the picture from which it is cut.
type frame struct {
	from, to    *tensor
	points      []int // of the part; a point has three numbers
	left, right int   // the points that are level in the part's picture
	share       float32
	scale, size float32 // the picture's side, as a multiple of the part's, and in pixels
}

func (frame) parts() int { return 1 }

func (l frame) compute(r *run, _ *hand, _ int) {
	numbers := r.tensors[l.from.at:][:l.from.channels]
	at := func(point int) (x, y float32) { return numbers[3*point] * l.share, numbers[3*point+1] * l.share }
	x0, y0 := at(l.left)
	x1, y1 := at(l.right)
	length := float32(math.Hypot(float64(x1-x0), float64(y1-y0)))
	cos, sin := (x1-x0)/length, (y1-y0)/length
	inf := float32(math.Inf(1))
	left, top, right, bottom := inf, inf, -inf, -inf
	for _, point := range l.points {
		x, y := at(point)
		x, y = cos*x+sin*y, cos*y-sin*x
		left, top, right, bottom = min(left, x), min(top, y), max(right, x), max(bottom, y)
	}
	width, height := (right-left)*l.scale/l.size, (bottom-top)*l.scale/l.size
	x, y := (left+right-l.size*width)/2, (top+bottom-l.size*height)/2
	to := r.tensors[l.to.at:][:l.to.pitch()]
	clear(to[copy(to, []float32{cos * width, -sin * height, cos*x - sin*y, sin * width, cos * height, sin*x + cos*y}):])
}

// crop is a layer that cuts a part's picture, by a frame. Pixels beyond the border are 0.
type crop struct{ from, frame, to *tensor }

func (l crop) parts() int { return l.to.height }

func (l crop) compute(r *run, _ *hand, y int) {
	m, pitch := r.tensors[l.frame.at:][:6], l.to.pitch()
	height, width := float32(l.from.height), float32(l.from.width)
	for x := range l.to.width {
		u, v := float32(x)+.5, float32(y)+.5
		u, v = m[0]*u+m[1]*v+m[2]-.5, m[3]*u+m[4]*v+m[5]-.5
		to := r.tensors[l.to.row(y)+x*pitch:][:pitch]
		clear(to)
		if !(u > -1 && u < width && v > -1 && v < height) { // NaN, too
			continue
		}
		left, top := int(math.Floor(float64(u))), int(math.Floor(float64(v)))
		right, down := u-float32(left), v-float32(top)
		l.add(r, to, top, left, (1-down)*(1-right))
		l.add(r, to, top, left+1, (1-down)*right)
		l.add(r, to, top+1, left, down*(1-right))
		l.add(r, to, top+1, left+1, down*right)
	}
	l.to.border(r, y, 1)
}

// add adds a share of a pixel. Those beyond the border by one are 0.
func (l crop) add(r *run, to []float32, y, x int, share float32) {
	for i, v := range r.tensors[l.from.row(y)+x*len(to):][:len(to)] {
		to[i] += share * v
	}
}

// place is a layer that moves points from a part's picture to the whole one, by a frame. A point has two numbers, in pixels
// of the whole picture, so only the shift is scaled.
type place struct {
	from, frame, to *tensor
	share           float32 // side of the picture from which the part's is cut, as a share of the side of the whole one
}

func (place) parts() int { return 1 }

func (l place) compute(r *run, _ *hand, _ int) {
	m, from, to := r.tensors[l.frame.at:][:6], r.tensors[l.from.at:][:l.from.channels], r.tensors[l.to.at:][:l.to.pitch()]
	clear(to)
	for i := 0; i < len(from); i += 2 {
		x, y := from[i], from[i+1]
		to[i], to[i+1] = m[0]*x+m[1]*y+m[2]/l.share, m[3]*x+m[4]*y+m[5]/l.share
	}
}
