package score

import (
	"image"

	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// The region of a mouth is a square on the canonical face (see alignment.Face), whose unit is the distance of the pupils. It reaches from the
// base of the nose to the chin, and beyond the corners of the mouth.
const (
	regionLeft, regionTop = .8, 1.3
	regionSide            = .8

	side  = 8 // number of cells along a side: a cell is a tenth of the distance of the pupils wide, about as high as a lip
	cells = side * side
	taps  = 4 // a cell is the mean of taps × taps places
)

// Mouth holds the luma of each cell of the region of a mouth, row by row.
type Mouth [cells]float32

// MouthOf returns the mouth in a frame. toMouth is the similarity from the canonical face to the frame's pixels.
func MouthOf(frame *image.YCbCr, toMouth geom.Similarity) (m Mouth) {
	const step = regionSide / (side * taps)
	for row := range side * taps {
		for column := range side * taps {
			place := geom.Point{X: regionLeft + step*(float32(column)+.5), Y: regionTop + step*(float32(row)+.5)}
			m[row/taps*side+column/taps] += pixels.LumaAt(frame, toMouth.Apply(place)) / (taps * taps)
		}
	}
	return m
}
