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
	shrink               float32   // of the scale, after each stage
	codes                [][4]int8 // of each node: row and column of both pixels, in 1/256 of the scale
	leaves               []float32
}

// readPointCascade reads pigo's puploc and lp* files: stages, scale factor,
// trees a stage and depth, then each tree's nodes and leaves, little endian.
func readPointCascade(b []byte) (*pointCascade, error) {
	if len(b) < 16 {
		return nil, errors.New("point cascade: too short")
	}
	word := func(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
	c := &pointCascade{stages: int(word(0)), shrink: math.Float32frombits(word(4)), trees: int(word(8)), depth: int(word(12))}
	if max(c.stages, c.trees) > 1000 || c.depth > 16 {
		return nil, errors.New("point cascade: too large")
	}
	nodes, leaves := 4*(1<<c.depth-1), 2<<c.depth
	if want := 16 + c.stages*c.trees*(nodes+4*leaves); len(b) != want {
		return nil, fmt.Errorf("point cascade: %d bytes, want %d", len(b), want)
	}
	at := 16
	for range c.stages * c.trees {
		for i := at; i < at+nodes; i += 4 {
			c.codes = append(c.codes, [4]int8{int8(b[i]), int8(b[i+1]), int8(b[i+2]), int8(b[i+3])})
		}
		at += nodes
		for range leaves {
			c.leaves = append(c.leaves, math.Float32frombits(word(at)))
			at += 4
		}
	}
	return c, nil
}

// A point is the trimmed mean of where walks from several starting places lead.
const (
	rigidWalks  = 9  // for landmarks that registration follows, too
	mobileWalks = 15 // for those that decide how far a mouth is open
)

// find returns the point that the cascade leads to from around a start, for a face
// of the scale, in pixels of the plane. mirrored looks for the point of the other
// half of the face.
func (c *pointCascade) find(p pixels.Plane[uint8], start geom.Point, scale float32, mirrored bool, n int) geom.Point {
	walks := make([]walk, n)
	for i := range walks {
		// Two low-discrepancy sequences around the start, and one of scales.
		u, v, w := fraction(i, .7548777), fraction(i, .5698403), fraction(i, .6180340)
		walks[i].at = geom.Point{X: start.X + .15*scale*(u-.5), Y: start.Y + .15*scale*(v-.5)}
		walks[i].scale = scale * (.925 + .15*w)
	}
	c.descend(p, walks, mirrored)
	xs, ys := make([]float32, n), make([]float32, n)
	for i, w := range walks {
		xs[i], ys[i] = w.at.X, w.at.Y
	}
	return geom.Point{X: trimmedMean(xs), Y: trimmedMean(ys)}
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
	row, col, size int // of at, in 1/256 pixel, and of the scale, in pixels
	across         int // size, negative where mirrored
	node           int // of the tree
	step           geom.Point
}

// descend takes all walks through all stages. They go side by side, node by
// node, without a branch: a processor then does several at a time.
func (c *pointCascade) descend(p pixels.Plane[uint8], walks []walk, mirrored bool) {
	nodes, leaves := 1<<c.depth-1, 1<<c.depth
	sign := 1
	if mirrored {
		sign = -1
	}
	codes, values := c.codes, c.leaves
	for range c.stages {
		inside := true
		for i := range walks {
			w := &walks[i]
			w.row, w.col, w.size, w.step = int(256*w.at.Y), int(256*w.at.X), int(w.scale+.5), geom.Point{}
			w.across = sign * w.size
			inside = inside && w.inside(p)
		}
		for range c.trees {
			c.descendTree(p, walks, codes, inside)
			for i := range walks {
				w := &walks[i]
				leaf := 2 * (w.node - nodes)
				w.step.Y += values[leaf]
				w.step.X += values[leaf+1]
			}
			codes, values = codes[nodes:], values[2*leaves:]
		}
		for i := range walks {
			w := &walks[i]
			w.at.Y += w.step.Y * w.scale
			w.at.X += float32(sign) * w.step.X * w.scale
			w.scale *= c.shrink
		}
	}
}

// descendTree takes all walks from a tree's root to its leaves. inside tells that
// all pixels that it can ask for are in the plane.
func (c *pointCascade) descendTree(p pixels.Plane[uint8], walks []walk, codes [][4]int8, inside bool) {
	for i := range walks {
		walks[i].node = 0
	}
	for range c.depth {
		for i := range walks {
			w := &walks[i]
			n := &codes[w.node]
			ya, xa := (w.row+int(n[0])*w.size)>>8, (w.col+int(n[1])*w.across)>>8
			yb, xb := (w.row+int(n[2])*w.size)>>8, (w.col+int(n[3])*w.across)>>8
			var a, b uint8
			if inside {
				a, b = p.Pix[ya*p.Stride+xa], p.Pix[yb*p.Stride+xb]
			} else {
				a, b = p.At(xa, ya), p.At(xb, yb)
			}
			w.node = 2*w.node + 1 + int(uint(int(b)-int(a))>>63) // the second one if a is brighter
		}
	}
}

// inside tells whether all pixels that a walk can ask for are in the plane: they
// are at most half its size away.
func (w *walk) inside(p pixels.Plane[uint8]) bool {
	half := w.size/2 + 1
	y, x := w.row>>8, w.col>>8
	return y >= half && x >= half && y+half < p.Height && x+half < p.Width
}
