package tracking

import (
	"lipsync/internal/detection"
	"lipsync/internal/pixels"
	"lipsync/internal/registration"
)

// appearance is a coarse picture of a face, to tell people apart: its luma from
// above the brows to the upper lip. On clips of people who speak and turn, the NCC
// of one person's appearance with that of the frames before is .8 and more, and
// with another person's .7 at most.
type appearance [20 * 14]float32

// appearanceGrid is in the coordinates of eyesOf. Each value is the mean of as many
// samples as appearanceTaps squared.
var appearanceGrid = registration.Grid{Left: -1, Top: -.6, Scale: 10 * appearanceTaps, Width: 20 * appearanceTaps, Height: 14 * appearanceTaps}

const appearanceTaps = 2

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
