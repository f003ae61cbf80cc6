package detection

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// pointCascade finds one point of a face, by an ensemble of regression trees over comparisons of pixels, after
// Markuš et al., "Eye pupil localization with an ensemble of randomized trees" (Pattern Recognition 47, 2014).
//
// The files are those of esimov/pigo. Its own evaluator isn't used, since it rounds each result to a whole pixel and
// uses the global random source. Alignment needs the place of an eye to a quarter of a pixel, and the same result
// in each run.
type pointCascade struct {
	stages, trees, depth int
	shrink               float32 // the scale is multiplied by this after each stage
	nodes                []node
	steps                []geom.Point // of each leaf, as shares of the scale
}

// node holds the places of the two pixels that a node of a tree compares, one in each half of the word. The row is
// in the lower byte and the column in the higher byte, in 1/256 of the scale, plus 128.
type node uint32

// places returns the places of both pixels, one in each half of a word, so that both are computed at once: as long as
// no half is negative, the sum of two words has the sums of their halves.
func (n node) places() uint64 { return uint64(n) | uint64(n)<<16 }

// pair returns a word with x in each half.
func pair(x int) uint64 { return uint64(x) + uint64(x)<<32 }

// The largest cascades that are read.
const mostTrees, mostDepth = 1000, 16

// readPointCascade reads pigo's puploc and lp* files: the number of stages, the factor of the scale, the number of
// trees a stage and their depth. Then follow each tree's nodes (row and column of both pixels as signed bytes) and
// leaves (y and x), little endian.
func readPointCascade(b []byte) (*pointCascade, error) {
	if len(b) < 16 {
		return nil, errors.New("point cascade: too short")
	}
	word := func(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
	c := &pointCascade{stages: int(word(0)), shrink: math.Float32frombits(word(4)), trees: int(word(8)), depth: int(word(12))}
	if max(c.stages, c.trees) > mostTrees || c.depth > mostDepth {
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

// starts is the number of descents by which a point is found. The point is the trimmed mean of their ends. With more
// than 9, mouths don't follow the speech better.
const starts = 9

// spreadOfStarts is the range of the places and of the scales at which descents start, as a share of the scale. It is
// the value of pigo's own evaluator.
const spreadOfStarts = .15

// find returns the point to which the cascade leads from places around a start, in pixels of the plane. scale is that
// of the face, in pixels. If mirrored is true, find searches for the point in the other half of the face.
func (c *pointCascade) find(p pixels.Plane[uint8], start geom.Point, scale float32, mirrored bool) geom.Point {
	var all [starts]descent
	for i := range all {
		// Low-discrepancy sequences: of places by the plastic number (Roberts, 2018), of scales by the golden ratio.
		u, v, w := fraction(i, .7548777), fraction(i, .5698403), fraction(i, .6180340)
		all[i].at = geom.Point{X: start.X + spreadOfStarts*scale*(u-.5), Y: start.Y + spreadOfStarts*scale*(v-.5)}
		all[i].scale = scale * (1 - spreadOfStarts/2 + spreadOfStarts*w)
	}
	c.descend(p, all[:], mirrored)
	var xs, ys [starts]float32
	for i, w := range all {
		xs[i], ys[i] = w.at.X, w.at.Y
	}
	return geom.Point{X: trimmedMean(xs[:]), Y: trimmedMean(ys[:])}
}

// fraction returns the fractional part of number i of a sequence that begins with .5 and goes on in steps.
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

// descent is one pass through the stages of a cascade.
type descent struct {
	at         geom.Point // pixels
	scale      float32    // pixels
	row, col   int        // of at, in 1/256 pixel
	size       int        // scale, in whole pixels
	across     int        // size, negative if the search is mirrored
	rows, cols uint64     // row and col as pairs, less the 128 that a node adds to its rows and columns
	node       uint       // index in the tree
	step       geom.Point // sum of the leaves of a stage
}

// descend takes all descents through all stages, and may change their order. It takes each descent by one node before
// the next node, without a branch, so that a processor does several descents at a time.
func (c *pointCascade) descend(p pixels.Plane[uint8], all []descent, mirrored bool) {
	sign := 1
	if mirrored {
		sign = -1
	}
	perTree, leaves := 1<<c.depth-1, 1<<c.depth
	nodes, steps := c.nodes, c.steps
	for range c.stages {
		inside := 0 // number of descents that are inside the plane; these come first
		for i := range all {
			if all[i].begin(sign); all[i].inside(p) {
				all[i], all[inside] = all[inside], all[i]
				inside++
			}
		}
		for range c.trees {
			for i := range all {
				all[i].node = 0
			}
			for range c.depth {
				down(all[:inside], nodes[:perTree], p.Pix, uint64(p.Stride))
				downAtBorder(all[inside:], nodes[:perTree], p)
			}
			for i := range all {
				d := &all[i]
				step := steps[int(d.node)-perTree]
				d.step.X, d.step.Y = d.step.X+step.X, d.step.Y+step.Y
			}
			nodes, steps = nodes[perTree:], steps[leaves:]
		}
		for i := range all {
			d := &all[i]
			d.at.Y += d.step.Y * d.scale
			d.at.X += float32(sign) * d.step.X * d.scale
			d.scale *= c.shrink
		}
	}
}

// begin begins a stage.
func (d *descent) begin(sign int) {
	d.row, d.col, d.size, d.step = int(256*d.at.Y), int(256*d.at.X), int(d.scale+.5), geom.Point{}
	d.across = sign * d.size
	d.rows, d.cols = pair(d.row-128*d.size), pair(d.col-128*d.across)
}

// inside tells whether all pixels that a descent can read are in the plane: they are at most half its size away.
func (d *descent) inside(p pixels.Plane[uint8]) bool {
	half := d.size/2 + 1
	y, x := d.row>>8, d.col>>8
	return y >= half && x >= half && y+half < p.Height && x+half < p.Width
}

// down takes all descents one node down a tree. All pixels that they can read are in the plane.
func down(all []descent, tree []node, pix []uint8, stride uint64) {
	const (
		low   = 0xff<<32 | 0xff             // the lowest byte of each half
		whole = (1<<24-1)<<32 | (1<<24 - 1) // after a shift by 8, the bits that come from the same half
	)
	for i := range all {
		d := &all[i]
		n := tree[d.node].places()
		rows, cols := d.rows+n&low*uint64(d.size), d.cols+n>>8&low*uint64(d.across)
		at := rows>>8&whole*stride + cols>>8&whole
		d.node = 2*d.node + 1 + brighter(pix[uint32(at)], pix[at>>32])
	}
}

// downAtBorder is down for descents that can read pixels beyond the plane. There the pixels of the border repeat.
func downAtBorder(all []descent, tree []node, p pixels.Plane[uint8]) {
	for i := range all {
		d := &all[i]
		pixel := func(n node) uint8 {
			row, col := d.row+(int(n&0xff)-128)*d.size, d.col+(int(n>>8&0xff)-128)*d.across
			return p.At(col>>8, row>>8)
		}
		n := tree[d.node]
		d.node = 2*d.node + 1 + brighter(pixel(n), pixel(n>>16))
	}
}

// brighter returns 1 if a is brighter than b, otherwise 0.
func brighter(a, b uint8) uint { return uint(int(b)-int(a)) >> 63 }
