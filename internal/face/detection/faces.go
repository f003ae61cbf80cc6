package detection

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"lipsync/internal/signal/pixels"
)

// faceCascade finds faces, by an ensemble of regression trees over comparisons of pixels, after Markuš et al.,
// "Object Detection with Pixel Intensity Comparisons Organized in Decision Trees" (2013). A window has a face if the
// sum of its scores is large enough after each tree.
//
// The file is that of esimov/pigo, and faceCascade finds the same faces as pigo. Pigo's own evaluator isn't used, since
// it takes one window after the other through the trees. Most of that time the processor waits for the pixels of the node
// before, or for the end of the tree.
type faceCascade struct {
	depth  int
	nodes  [][4]int8 // of all trees; each tree begins at index 1. Row and column of both pixels, in 1/256 of the side from the centre
	scores []float32 // of all leaves
	least  []float32 // for each tree: after it the sum of the scores of a face is larger than this
}

// readFaceCascade reads pigo's facefinder: 8 bytes, the depth and the number of trees, and then each tree's nodes,
// scores and least sum, little endian.
func readFaceCascade(b []byte) (*faceCascade, error) {
	if len(b) < 16 {
		return nil, errors.New("face cascade: too short")
	}
	word := func(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
	c, trees := &faceCascade{depth: int(word(8))}, int(word(12))
	if c.depth > mostDepth || trees > mostTrees || trees == 0 {
		return nil, errors.New("face cascade: too large, or without a tree")
	}
	leaves := 1 << c.depth
	if want := 16 + 8*leaves*trees; len(b) != want {
		return nil, fmt.Errorf("face cascade: %d bytes, want %d", len(b), want)
	}
	at := 16
	for range trees {
		c.nodes = append(c.nodes, [4]int8{}) // index 0 is unused, so that the nodes below n are 2n and 2n+1
		for range leaves - 1 {
			c.nodes = append(c.nodes, [4]int8{int8(b[at]), int8(b[at+1]), int8(b[at+2]), int8(b[at+3])})
			at += 4
		}
		for range leaves {
			c.scores = append(c.scores, math.Float32frombits(word(at)))
			at += 4
		}
		c.least = append(c.least, math.Float32frombits(word(at)))
		at += 4
	}
	return c, nil
}

// square is a part of a picture, in pixels.
type square struct {
	row, col, side int // of its centre
	score          float32
}

// windowGrowth is the ratio of the sides of windows from one size to the next: pigo's own value.
const windowGrowth = 1.1

// find returns the squares that may have faces, often many for one face. Their sides are from smallest to largest
// pixels. step is the distance of their centres, as a share of the side.
func (c *faceCascade) find(p pixels.Plane[uint8], smallest, largest int, step float64) (found []square) {
	var windows []window
	for side := smallest; side <= largest; side = int(float64(side) + max(2, float64(side)*windowGrowth-float64(side))) {
		between, margin := max(int(step*float64(side)), 1), side/2+1
		windows = windows[:0]
		for row := margin; row <= p.Height-margin; row += between {
			for col := margin; col <= p.Width-margin; col += between {
				windows = append(windows, window{at: row*p.Stride + col})
			}
		}
		for _, w := range c.faces(p, side, windows) {
			if score := w.score - c.least[len(c.least)-1]; score > 0 {
				found = append(found, square{w.at / p.Stride, w.at % p.Stride, side, score})
			}
		}
	}
	return found
}

// window is a square that may have a face, by the trees so far.
type window struct {
	at    int // index of the pixel in its centre
	score float32
}

// faces returns the windows that have faces. It overwrites the windows. All go through one tree before the next tree, so
// that a processor does several windows at a time.
func (c *faceCascade) faces(p pixels.Plane[uint8], side int, windows []window) []window {
	leaves := 1 << c.depth
	places := make([][2]int, leaves) // of each node's pixels, from the centre
	for i, least := range c.least {
		tree, scores := c.nodes[i*leaves:][:leaves], c.scores[i*leaves:][:leaves]
		if c.depth*len(windows) < leaves { // they read fewer nodes than the tree has
			windows = passFew(windows, p, side, tree, scores, least)
			continue
		}
		for k, n := range tree {
			places[k] = pixelsOf(n, side, p.Stride)
		}
		windows = pass(windows, p.Pix, places, scores, least)
	}
	return windows
}

// pixelsOf returns the places of a node's pixels from the centre of a window.
func pixelsOf(n [4]int8, side, stride int) [2]int {
	return [2]int{(int(n[0])*side>>8)*stride + int(n[1])*side>>8, (int(n[2])*side>>8)*stride + int(n[3])*side>>8}
}

// pass returns the windows that may have faces after one more tree. It overwrites the windows.
func pass(windows []window, pix []uint8, places [][2]int, scores []float32, least float32) []window {
	n := 0
	for _, w := range windows {
		k := uint(1)
		for k < uint(len(places)) {
			at := &places[k]
			k = 2*k + 1 - brighter(pix[w.at+at[0]], pix[w.at+at[1]])
		}
		w.score += scores[k-uint(len(scores))]
		windows[n] = w
		if w.score > least { // compiled without a branch, which a processor could not predict
			n++
		}
	}
	return windows[:n]
}

// passFew is pass for few windows. It computes the places of only those nodes that the windows read.
func passFew(windows []window, p pixels.Plane[uint8], side int, tree [][4]int8, scores []float32, least float32) []window {
	n := 0
	for _, w := range windows {
		k := uint(1)
		for k < uint(len(tree)) {
			at := pixelsOf(tree[k], side, p.Stride)
			k = 2*k + 1 - brighter(p.Pix[w.at+at[0]], p.Pix[w.at+at[1]])
		}
		w.score += scores[k-uint(len(scores))]
		windows[n] = w
		if w.score > least {
			n++
		}
	}
	return windows[:n]
}

// leastIoU is an IoU. Two squares with a larger one are of one face. It is pigo's own value.
const leastIoU = .2

// merge returns one square for each group of squares that overlap: the mean of the group, with the sum of its scores.
func merge(found []square) (merged []square) {
	slices.SortFunc(found, func(a, b square) int { return cmp.Compare(a.score, b.score) })
	taken := make([]bool, len(found))
	for i, first := range found {
		if taken[i] {
			continue
		}
		var group square
		n := 0
		for k, s := range found {
			if first.candidate().iou(s.candidate()) > leastIoU {
				taken[k] = true
				group = square{group.row + s.row, group.col + s.col, group.side + s.side, group.score + s.score}
				n++
			}
		}
		merged = append(merged, square{group.row / n, group.col / n, group.side / n, group.score})
	}
	return merged
}

// candidate returns the square as a candidate.
func (s square) candidate() candidate {
	row, col, half := float32(s.row), float32(s.col), float32(s.side)/2
	return candidate{col - half, row - half, col + half, row + half, s.score}
}
