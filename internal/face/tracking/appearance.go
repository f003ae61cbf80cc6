package tracking

import (
	"lipsync/internal/face/detection"
	"lipsync/internal/face/registration"
	"lipsync/internal/signal/pixels"
)

// appearance is a coarse picture of a face, to distinguish people: its luma from above the brows to the upper lip, row by
// row. In clips of people who speak and turn, the NCC of a person's appearance with that in the frames before is .8
// or more, and with another person's appearance .7 at most.
type appearance [20 * 14]float32

// appearanceGrid is the grid of appearances, in the coordinates of eyesOf. Each value is the mean of appearanceTaps ×
// appearanceTaps samples.
var appearanceGrid = registration.Grid{Left: -1, Top: -.6, Scale: 10 * appearanceTaps, Width: 20 * appearanceTaps, Height: 14 * appearanceTaps}

const appearanceTaps = 2

// appearanceOf returns the appearance of the face with the landmarks.
func appearanceOf(c *pixels.Crop, l detection.Landmarks) (a appearance) {
	var fine [len(a) * appearanceTaps * appearanceTaps]float32
	appearanceGrid.Sample(fine[:], c, eyesOf(l))
	width := appearanceGrid.Width / appearanceTaps
	for i, v := range fine {
		x, y := i%appearanceGrid.Width/appearanceTaps, i/appearanceGrid.Width/appearanceTaps
		a[y*width+x] += v / (appearanceTaps * appearanceTaps)
	}
	return a
}
