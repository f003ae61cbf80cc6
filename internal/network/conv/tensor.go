package conv

// lanes is the number of floats that kernels compute at once.
const lanes = 8

// tensor is the place of a picture of some channels, or of numbers as one pixel, in the memory of a run. A pixel has its
// channels side by side, and zeros up to a multiple of lanes. A pixel of zeros follows each row, and a row of zeros lies
// above and below, so that windows can reach over the border.
type tensor struct {
	height, width, channels int
	at                      int // index of the first pixel
}

// pitch is the number of floats from one pixel to the next.
func (t *tensor) pitch() int { return roundUp(t.channels, lanes) }

// row returns the index of a row. Rows -1 and height are zeros.
func (t *tensor) row(y int) int { return t.at + y*(t.width+1)*t.pitch() }

// before is the number of floats before the first pixel: a row of zeros, and the pixel before that row.
func (t *tensor) before() int { return (t.width + 2) * t.pitch() }

// size is the number of floats of the tensor and its zeros.
func (t *tensor) size() int { return ((t.height+2)*(t.width+1) + 1) * t.pitch() }

// border writes the zeros above and below the tensor, and after the rows from y on.
func (t *tensor) border(r *run, y, rows int) {
	pitch := t.pitch()
	if y == 0 {
		clear(r.tensors[t.at-t.before() : t.at])
	}
	for i := range rows {
		end := t.row(y + i + 1)
		clear(r.tensors[end-pitch : end])
	}
	if y+rows == t.height {
		clear(r.tensors[t.row(t.height):t.row(t.height+1)])
	}
}

// arrange gives each tensor a place, so that two that are needed at the same time don't overlap. Tensor i+1 is made by layer
// i, and lasts[i+1] is the last layer that reads it. It returns the number of floats that all need.
func arrange(tensors []*tensor, lasts []int) (floats int) {
	for i, t := range tensors[1:] {
		start := 0
		for moved := true; moved; {
			moved = false
			for k, other := range tensors[1 : i+1] {
				begin := other.at - other.before()
				if lasts[k+1] >= i && start < begin+other.size() && begin < start+t.size() {
					start, moved = begin+other.size(), true
				}
			}
		}
		t.at = start + t.before()
		floats = max(floats, start+t.size())
	}
	return floats
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }
