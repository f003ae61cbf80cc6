package occlusion

// An object must hide a share of leastOfLips of the lips, and reach the edge of the region with leastAtEdge cells.
const leastOfLips, leastAtEdge = .5, 2

// How much of the lips' colour is seen when something hides them: less than lipsGone of it, or less than lipsHidden if it has about the
// colours of the face, such as a hand. A mouth that opens wide has other colours, and shows more of its lips. While a thing comes or goes,
// less than lipsTouched is seen.
const lipsGone, lipsHidden, lipsTouched = 1. / 3, 2. / 3, 5. / 6

// front is what may be in front of the lips in a frame.
type front struct {
	cells   []int // of the foreign ones, those that touch the lips, by way of others
	hides   bool  // it hides the lips
	comes   bool  // it hides them, and reaches the edge of the region
	touches bool  // it reaches from the edge of the region to the lips
	unseen  bool  // the colour of the lips isn't seen, so all of them are hidden
}

// frontOf returns what is in front of the lips in a frame. seen is how much of the lips' colour is seen there. least is the least sum of
// the degrees of lips that are hidden.
func frontOf(f *[cells]degree, lips []int, least int, seen float32) front {
	all, surely := reached(f, lips, strange), reached(f, lips, alien)
	skin := surely.lips < len(lips) // less than half of the lips is surely foreign
	gone := seen < lipsGone && all.lips > 0
	unseen := gone || skin && seen < lipsHidden && all.lips >= least/2
	joined := surely.edge >= leastAtEdge
	atEdge := all.edge >= leastAtEdge || gone && all.border >= leastAtEdge
	hides := gone || unseen && all.lips >= least || !skin && joined && surely.lips >= least
	nears := skin && atEdge && seen < lipsTouched || seen < lipsHidden && all.border >= leastAtEdge
	return front{cells: all.cells, hides: hides, comes: hides && atEdge, touches: joined || nears, unseen: unseen}
}

// reach is the foreign cells of a frame that touch the lips.
type reach struct {
	cells  []int
	lips   int // sum of the degrees of the lips
	border int // number of cells at the edge of the region
	edge   int // number of those that are surely foreign
}

// reached returns the cells of at least a degree that are lips, or touch them by way of others.
func reached(f *[cells]degree, lips []int, least degree) (r reach) {
	var done [cells]bool
	add := func(c int) {
		if f[c] >= least && !done[c] {
			done[c] = true
			r.cells = append(r.cells, c)
		}
	}
	for _, c := range lips {
		add(c)
	}
	for _, c := range r.cells {
		r.lips += int(f[c])
	}
	for k := 0; k < len(r.cells); k++ {
		c := r.cells[k]
		if atEdge(c) {
			r.border++
			if f[c] == alien {
				r.edge++
			}
		}
		for n := range 9 {
			add(neighbour(c, n))
		}
	}
	return r
}

// atEdge tells whether a cell is at an edge of the region from which objects come: not above, where they would hide the nose, and the face
// would not be found.
func atEdge(c int) bool { return c%columns == 0 || c%columns == columns-1 || c/columns == rows-1 }

// alone is the number of frames, half a second at 25 frames/s, before and after which nothing foreign is at the edge of the region where a
// mouth moves by itself.
const alone = 12

// byItself returns the largest sum of the degrees of the lips in a frame in which the mouth moves by itself: wide, or for the first time.
// The lips are seen there. seen is how much of their colour is seen in each frame.
func byItself(scene [][cells]degree, lips []int, seen []float32) (most int) {
	last := -alone - 1 // the last frame with something at the edge
	var sums []int     // of the frames since then that may count
	for i := range scene {
		edge, sum := 0, 0
		for c, d := range scene[i] {
			if d == alien && atEdge(c) {
				edge++
			}
		}
		for _, c := range lips {
			sum += int(scene[i][c])
		}
		if edge >= leastAtEdge || seen[i] < lipsHidden {
			last, sums = i, sums[:0]
			continue
		}
		if i-last > alone {
			sums = append(sums, sum)
		}
		if n := len(sums); n > alone {
			most = max(most, sums[n-1-alone]) // nothing comes within the next frames
		}
	}
	return most
}
