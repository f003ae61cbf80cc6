package detection

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"lipsync/internal/geom"
	"lipsync/internal/pixels"
)

// pointCascade finds one point of a face: an ensemble of regression trees over
// pixel comparisons, after Markuš et al., "Eye pupil localization with an
// ensemble of randomized trees" (Pattern Recognition 47, 2014).
//
// The files are those of esimov/pigo. Its own evaluator rounds every result to a
// whole pixel and draws from the global random source. The alignment needs an eye's
// place to a quarter pixel, and the same one in every run.
type pointCascade struct {
	stages, trees, depth int
	shrink               float32 // of the scale, after each stage
	nodes                []node
	steps                []geom.Point // of each leaf, in shares of the scale
}

// node is where the two pixels are that a node of a tree compares, one in each half of the
// word: the row in the lower byte, the column in the higher one, in 1/256 of the scale, and 128
// more.
type node uint32

// places returns both pixels, one in each half. So both are worked out at once: as long as no
// half is negative, a sum of pairs is the pair of the sums.
func (n node) places() uint64 { return uint64(n) | uint64(n)<<16 }

// pair returns a word with x in each half.
func pair(x int) uint64 { return uint64(x) + uint64(x)<<32 }

// readPointCascade reads pigo's puploc and lp* files: stages, scale factor,
// trees a stage and depth, then each tree's nodes (row and column of both pixels as signed
// bytes) and leaves (y and x), little endian.
func readPointCascade(b []byte) (*pointCascade, error) {
	if len(b) < 16 {
		return nil, errors.New("point cascade: too short")
	}
	word := func(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
	c := &pointCascade{stages: int(word(0)), shrink: math.Float32frombits(word(4)), trees: int(word(8)), depth: int(word(12))}
	if max(c.stages, c.trees) > 1000 || c.depth > 16 {
		return nil, errors.New("point cascade: too large")
	}
	nodes, leaves, trees := 1<<c.depth-1, 1<<c.depth, c.stages*c.trees
	if want := 16 + trees*(4*nodes+8*leaves); len(b) != want {
		return nil, fmt.Errorf("point cascade: %d bytes, want %d", len(b), want)
	}
	c.nodes, c.steps = make([]node, 0, trees*nodes), make([]geom.Point, 0, trees*leaves)
	at := 16
	for range trees {
		for range nodes {
			c.nodes = append(c.nodes, node(word(at)^0x80808080)) // 128 more in each byte
			at += 4
		}
		for range leaves {
			c.steps = append(c.steps, geom.Point{X: math.Float32frombits(word(at + 4)), Y: math.Float32frombits(word(at))})
			at += 8
		}
	}
	return c, nil
}

// starts is from how many places walks start to find a point, which is the trimmed mean of
// where they end.
const starts = 9

// find returns the point that the cascade leads to from around a start, for a face
// of the scale, in pixels of the plane. mirrored looks for the point of the other
// half of the face.
func (c *pointCascade) find(p pixels.Plane[uint8], start geom.Point, scale float32, mirrored bool) geom.Point {
	var all [starts]walk
	for i := range all {
		// Two low-discrepancy sequences around the start, and one of scales.
		u, v, w := fraction(i, .7548777), fraction(i, .5698403), fraction(i, .6180340)
		all[i].at = geom.Point{X: start.X + .15*scale*(u-.5), Y: start.Y + .15*scale*(v-.5)}
		all[i].scale = scale * (.925 + .15*w)
	}
	c.descend(p, all[:], mirrored)
	var xs, ys [starts]float32
	for i, w := range all {
		xs[i], ys[i] = w.at.X, w.at.Y
	}
	return geom.Point{X: trimmedMean(xs[:]), Y: trimmedMean(ys[:])}
}

func fraction(i int, step float64) float32 {
	_, f := math.Modf(.5 + float64(i)*step)
	return float32(f)
}

// trimmedMean returns the mean of the middle half of x, which it sorts.
func trimmedMean(x []float32) float32 {
	slices.Sort(x)
	x = x[len(x)/4 : len(x)-len(x)/4]
	var sum float32
	for _, v := range x {
		sum += v
	}
	return sum / float32(len(x))
}

// walk is a way through the cascade.
type walk struct {
	at             geom.Point
	scale          float32
	row, col, size int    // of at, in 1/256 pixel, and of the scale, in pixels
	across         int    // size, negative where mirrored
	rows, cols     uint64 // of at, less what the 128 in a node add to it
	node           uint   // of the tree
	step           geom.Point
}

// descend takes all walks through all stages, and may change their order. They go side by side,
// node by node, without a branch: a processor then does several at a time.
func (c *pointCascade) descend(p pixels.Plane[uint8], walks []walk, mirrored bool) {
	sign := 1
	if mirrored {
		sign = -1
	}
	perTree, leaves := 1<<c.depth-1, 1<<c.depth
	nodes, steps := c.nodes, c.steps
	for range c.stages {
		inside := 0 // how many walks are inside the plane; these come first
		for i := range walks {
			if walks[i].begin(sign); walks[i].inside(p) {
				walks[i], walks[inside] = walks[inside], walks[i]
				inside++
			}
		}
		for range c.trees {
			for i := range walks {
				walks[i].node = 0
			}
			for range c.depth {
				goOn(walks[:inside], nodes[:perTree], p.Pix, uint64(p.Stride))
				goOnAtBorder(walks[inside:], nodes[:perTree], p)
			}
			for i := range walks {
				w := &walks[i]
				step := steps[int(w.node)-perTree]
				w.step.X, w.step.Y = w.step.X+step.X, w.step.Y+step.Y
			}
			nodes, steps = nodes[perTree:], steps[leaves:]
		}
		for i := range walks {
			w := &walks[i]
			w.at.Y += w.step.Y * w.scale
			w.at.X += float32(sign) * w.step.X * w.scale
			w.scale *= c.shrink
		}
	}
}

// begin begins a stage.
func (w *walk) begin(sign int) {
	w.row, w.col, w.size, w.step = int(256*w.at.Y), int(256*w.at.X), int(w.scale+.5), geom.Point{}
	w.across = sign * w.size
	w.rows, w.cols = pair(w.row-128*w.size), pair(w.col-128*w.across)
}

// inside tells whether all pixels that a walk can ask for are in the plane: they
// are at most half its size away.
func (w *walk) inside(p pixels.Plane[uint8]) bool {
	half := w.size/2 + 1
	y, x := w.row>>8, w.col>>8
	return y >= half && x >= half && y+half < p.Height && x+half < p.Width
}

// goOn takes all walks one node down a tree. All pixels that they can ask for are in the plane.
func goOn(walks []walk, tree []node, pix []uint8, stride uint64) {
	const (
		low   = 0xff<<32 | 0xff             // the lowest byte of each half
		whole = (1<<24-1)<<32 | (1<<24 - 1) // of halves shifted by 8 bits, what was not in the other one
	)
	for i := range walks {
		w := &walks[i]
		n := tree[w.node].places()
		rows, cols := w.rows+n&low*uint64(w.size), w.cols+n>>8&low*uint64(w.across)
		at := rows>>8&whole*stride + cols>>8&whole
		w.node = 2*w.node + 1 + brighter(pix[uint32(at)], pix[at>>32])
	}
}

// goOnAtBorder is goOn for walks that can ask for pixels beyond the plane, where those of the
// border repeat.
func goOnAtBorder(walks []walk, tree []node, p pixels.Plane[uint8]) {
	for i := range walks {
		w := &walks[i]
		pixel := func(n node) uint8 {
			row, col := w.row+(int(n&0xff)-128)*w.size, w.col+(int(n>>8&0xff)-128)*w.across
			return p.At(col>>8, row>>8)
		}
		n := tree[w.node]
		w.node = 2*w.node + 1 + brighter(pixel(n), pixel(n>>16))
	}
}

// brighter returns 1 if a is brighter than b, otherwise 0.
func brighter(a, b uint8) uint { return uint(int(b)-int(a)) >> 63 }
