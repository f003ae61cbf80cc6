package occlusion

import (
	"image"
	"slices"

	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// Cover is what hides a mouth in one frame.
type Cover struct {
	from  geom.Similarity // from the frame's pixels to cells
	cells [cells]uint8    // how much of each cell is hidden: 255 is all of it
	lips  bool            // whether an object hides lips, not only graphics other parts
}

// If an object hides more than hiddenSome of the lips, the rest of the mouth counts as hidden too: from nothing of it, there, to all of it at
// hiddenMost. Half a mouth says nothing, and next to an object its movement looks wrong.
const hiddenSome, hiddenMost = .25, .5

// newCover returns the cover of a frame, nil if nothing is hidden. hidden has the cells of all frames that objects hide, and graphics those that have
// graphics; either is nil if there are none. The cover is a cell larger than these and lasts a frame longer, by graphics two. Beyond that its edge is soft.
func newCover(to geom.Similarity, hidden, graphics [][cells]bool, frame int, lips []int) *Cover {
	near := func(h [][cells]bool) bool {
		return h != nil && slices.ContainsFunc(h[max(frame-2, 0):min(frame+3, len(h))], func(h [cells]bool) bool { return slices.Contains(h[:], true) })
	}
	byObject := near(hidden)
	if !byObject && !near(graphics) {
		return nil
	}
	var sum [cells]float32
	for i := frame - 1; i <= frame+1; i++ {
		for c := range sum {
			sum[c] += widened(hidden, i, c) / 3
		}
	}
	k := &Cover{lips: byObject, from: to.Inverse().Then(geom.Similarity{A: 1 / side, X: -left/side - .5, Y: -top/side - .5})}
	var share float32
	for _, c := range lips {
		share += around(c, func(n int) float32 { return sum[n] }) / float32(len(lips))
	}
	all := min(max((share-hiddenSome)/(hiddenMost-hiddenSome), 0), 1)
	if graphics != nil {
		for c := range sum {
			for i := frame - 1; i <= frame+1; i++ {
				sum[c] = max(sum[c], widened(graphics, i, c))
			}
		}
	}
	for c := range k.cells {
		k.cells[c] = level(255 * max(all, around(c, func(n int) float32 { return sum[n] })))
	}
	return k
}

// widened returns 1 if a cell or one of its neighbours is hidden in a frame, or in the frame before or after it, and 0 otherwise.
func widened(hidden [][cells]bool, frame, c int) float32 {
	for i := max(frame-1, 0); i <= min(frame+1, len(hidden)-1); i++ {
		for n := range 9 {
			if hidden[i][neighbour(c, n)] {
				return 1
			}
		}
	}
	return 0
}

// HidesLips tells whether an object hides lips. Otherwise only other parts of the mouth region are hidden, by graphics.
func (k *Cover) HidesLips() bool { return k != nil && k.lips }

// Hidden returns how much is hidden of the part of the mouth that is seen best: 255 is all of it.
func (k *Cover) Hidden() uint8 { return slices.Min(k.cells[:]) }

// Uncover lowers the mask of a mouth where the mouth is hidden: to 0 where nothing of it is seen. It tells whether any of the mask is
// left.
func (k *Cover) Uncover(mask *image.Alpha) (left bool) {
	plane := pixels.Plane[uint8]{Pix: k.cells[:], Width: columns, Height: rows, Stride: columns}
	for y := mask.Rect.Min.Y; y < mask.Rect.Max.Y; y++ {
		row := mask.Pix[mask.PixOffset(mask.Rect.Min.X, y):][:mask.Rect.Dx()]
		for i, a := range row {
			if a == 0 {
				continue
			}
			q := k.from.Apply(geom.Point{X: float32(mask.Rect.Min.X + i), Y: float32(y)})
			row[i] = uint8(float32(a)*(1-plane.Bilinear(q.X, q.Y)/255) + .5)
			left = left || row[i] > 0
		}
	}
	return left
}
