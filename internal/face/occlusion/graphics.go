package occlusion

import (
	"image"

	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// Letters of captions and lines of logos turn from bright to dark and back again within a few millimetres, along the rows of the picture. No
// skin, lips or edge of a jaw does that. Where the luma of two of scanLines lines, scanCells wide, turns turns times by turnBy or more, their cells
// have graphics, unless they have hardly any contrast.
const (
	scanLines, scanCells = 3, 5
	turns                = 4
	turnBy               = 70 // levels: white letters on the brightest skin have no less, or nobody could read them
	leastContrast        = 40 // levels of a cell, else it isn't scanned
)

// Graphics are there in most of the frames from aroundGraphics before one to as many after it: nobody reads faster. Where they are in a share of
// oftenGraphics of all frames, for a second of a minute, examples may have them, so these cells are kept in all frames.
const aroundGraphics, oftenGraphics = 2, 1. / 60

// Beside the lips, teeth and shadows turn as letters do: so no cell up to lipsClear from the lips has graphics. Canonical.
const lipsClear = 1.5 * side

// findGraphics sets the cells that have graphics.
func (v *view) findGraphics(c *pixels.Crop) {
	cell := side * v.to.Scale()
	for i := range cells {
		if !v.mayHaveGraphics(i) {
			continue
		}
		at := v.to.Apply(middleOf(i))
		found := 0
		for k := range scanLines {
			line := geom.Point{X: at.X - scanCells*cell/2, Y: at.Y + cell*(float32(k)-(scanLines-1)/2.)/scanLines}
			if turnsAlong(c.YCbCr, line, scanCells*cell) >= turns {
				found++
			}
		}
		if found < 2 {
			continue
		}
		row := i - i%columns
		for n := max(i-scanCells/2, row); n <= min(i+scanCells/2, row+columns-1); n++ {
			v.graphics[n] = v.graphics[n] || v.mayHaveGraphics(n)
		}
	}
}

// mayHaveGraphics tells whether a cell has contrast and is no part of the lips.
func (v *view) mayHaveGraphics(c int) bool {
	m := middleOf(c)
	onLips := m.X > v.lips[0]-lipsClear && m.X < v.lips[1]+lipsClear && m.Y > v.lips[2]-lipsClear && m.Y < v.lips[3]+lipsClear
	return v.colours[c][contrast] >= leastContrast && !onLips
}

// scanSteps is the number of pixels that turnsAlong looks at: a stroke is wider than a 64th of scanCells, or it can't be seen.
const scanSteps = 64

// turnsAlong returns how often the luma turns by turnBy or more along a row of the picture, from a place on.
func turnsAlong(picture *image.YCbCr, from geom.Point, width float32) (n int) {
	y := int(from.Y + .5)
	if y < picture.Rect.Min.Y || y >= picture.Rect.Max.Y {
		return 0
	}
	least, most, rises := 255, 0, 0 // since the last turn; rises is 1 or -1, and 0 before the first one
	for i := range scanSteps {
		x := int(from.X + width*float32(i)/(scanSteps-1) + .5)
		if x < picture.Rect.Min.X || x >= picture.Rect.Max.X {
			continue
		}
		l := int(picture.Y[picture.YOffset(x, y)])
		switch least, most = min(least, l), max(most, l); {
		case rises <= 0 && l >= least+turnBy:
			n, rises, least, most = n+1, 1, l, l
		case rises >= 0 && l <= most-turnBy:
			n, rises, least, most = n+1, -1, l, l
		}
	}
	return n
}

// graphicsIn returns the cells of each view that have graphics, nil if none has.
func graphicsIn(views []view) [][cells]bool {
	var often [cells]int
	seen, found := 0, false
	out := make([][cells]bool, len(views))
	for i := range views {
		if !views[i].seen {
			continue
		}
		seen++
		for c := range cells {
			n := 0
			for k := max(i-aroundGraphics, 0); k <= min(i+aroundGraphics, len(views)-1); k++ {
				if views[k].graphics[c] {
					n++
				}
			}
			if n > aroundGraphics {
				out[i][c], found = true, true
				often[c]++
			}
		}
	}
	if !found {
		return nil
	}
	for c, n := range often {
		for i := range out {
			out[i][c] = out[i][c] || float32(n) >= oftenGraphics*float32(seen)
		}
	}
	return out
}
