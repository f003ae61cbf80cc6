package occlusion

import (
	"slices"

	"lipsync/internal/signal/dsp"
)

// An object must hide a share of leastOfLips of the lips and reach the edge of the region with leastAtEdge cells at the same time, in
// leastFrames frames.
const leastOfLips, leastAtEdge, leastFrames = .5, 2, 3

// covers returns the cover of each view, nil if nothing hides the mouth in it.
func covers(views []view) []*Cover {
	u := usualOf(views)
	scene := make([][cells]degree, len(views))
	found := false
	for i := range views {
		switch {
		case views[i].seen:
			u.degrees(&views[i], &scene[i])
			found = found || slices.Contains(scene[i][:], alien)
		case i > 0:
			scene[i] = scene[i-1]
		}
	}
	if !found {
		return nil
	}
	lips := lipsOf(views)
	hidden := objects(scene, lips)
	out := make([]*Cover, len(views))
	for i := range views {
		out[i] = newCover(views[i].to, hidden, i, lips)
	}
	return out
}

// lipsOf returns the cells of the lips: between the medians of their edges.
func lipsOf(views []view) (lips []int) {
	var edges [4]float32
	for k := range edges {
		var all []float32
		for i := range views {
			if views[i].seen {
				all = append(all, views[i].lips[k])
			}
		}
		edges[k] = dsp.Quantile(all, .5)
	}
	for c := range cells {
		x, y := left+side*(float32(c%columns)+.5), top+side*(float32(c/columns)+.5)
		if x > edges[0] && x < edges[1] && y > edges[2] && y < edges[3] {
			lips = append(lips, c)
		}
	}
	return lips
}

// objects returns the cells of each frame that are hidden by an object. lips are the cells of the lips.
func objects(scene [][cells]degree, lips []int) (hidden [][cells]bool) {
	hidden = make([][cells]bool, len(scene))
	done := make([][cells]bool, len(scene))
	least := max(leastOfLips*float32(len(lips)), float32(byItself(scene, lips)+1))
	for i := range scene {
		for c, d := range scene[i] {
			if d != alien || done[i][c] {
				continue
			}
			thing := spread(scene, done, spot{i, c})
			if isObject(scene, thing, lips, least) {
				for _, s := range thing {
					hidden[s.frame][s.cell] = true
				}
			}
		}
	}
	return hidden
}

// alone is the number of frames, half a second at 25 frames/s, before and after which nothing foreign is at the edge of the region where a
// mouth moves by itself.
const alone = 12

// byItself returns the largest sum of the degrees of the lips in a frame in which the mouth moves by itself: wide, or for the first time.
func byItself(scene [][cells]degree, lips []int) (most int) {
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
		if edge >= leastAtEdge {
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

// atEdge tells whether a cell is at an edge of the region from which objects come: not above, where they would hide the nose, and the face
// would not be found.
func atEdge(c int) bool { return c%columns == 0 || c%columns == columns-1 || c/columns == rows-1 }

// spot is a cell of a frame.
type spot struct{ frame, cell int }

// spread returns the foreign cells that touch each other from a first one on, in a frame or from one frame to the next. It marks them
// as done.
func spread(scene [][cells]degree, done [][cells]bool, from spot) (thing []spot) {
	thing = []spot{from}
	done[from.frame][from.cell] = true
	for k := 0; k < len(thing); k++ {
		for frame := max(thing[k].frame-1, 0); frame <= min(thing[k].frame+1, len(scene)-1); frame++ {
			for n := range 9 {
				c := neighbour(thing[k].cell, n)
				if scene[frame][c] != own && !done[frame][c] {
					done[frame][c] = true
					thing = append(thing, spot{frame, c})
				}
			}
		}
	}
	return thing
}

// isObject tells whether foreign cells that touch each other are an object in front of the lips. least is the least sum of the degrees of
// its cells at the lips.
func isObject(scene [][cells]degree, thing []spot, lips []int, least float32) bool {
	hides, edge := map[int]int{}, map[int]int{} // the sum of degrees, and the number of cells, by frame
	for _, s := range thing {
		d := scene[s.frame][s.cell]
		if slices.Contains(lips, s.cell) {
			hides[s.frame] += int(d)
		}
		if d == alien && atEdge(s.cell) {
			edge[s.frame]++
		}
	}
	frames := 0
	for f, sum := range hides {
		if float32(sum) >= least && edge[f] >= leastAtEdge {
			frames++
		}
	}
	return frames >= leastFrames
}
