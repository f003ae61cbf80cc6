package face

import "image"

// cutter finds the frames that start a new shot.
type cutter struct {
	last  [thumbWidth * thumbHeight]float32
	moved float32 // mean change of the last frames
	seen  int
}

const (
	thumbWidth, thumbHeight = 32, 18

	// A cut changes a thumbnail's pixels by this much on average, of 255, and
	// by this many times what the frames before it changed.
	cutChange = 14
	cutRatio  = 4
)

// add sees the next frame and tells whether it starts a new shot.
func (c *cutter) add(frame *image.YCbCr) bool {
	thumb := thumbnail(frame)
	var change float32
	for i, v := range thumb {
		change += max(v-c.last[i], c.last[i]-v) / float32(len(thumb))
	}
	c.last = thumb
	c.seen++
	cut := c.seen > 1 && change > cutChange && change > cutRatio*c.moved
	switch {
	case c.seen == 1:
	case cut:
		c.moved = 0
	default:
		c.moved += .3 * (change - c.moved)
	}
	return cut
}

// thumbnail returns the means of a coarse grid of luma samples.
func thumbnail(frame *image.YCbCr) (thumb [thumbWidth * thumbHeight]float32) {
	const samples = 4 // a cell, each way
	b := frame.Bounds()
	for y := range thumbHeight * samples {
		row := frame.YOffset(b.Min.X, b.Min.Y+(2*y+1)*b.Dy()/(2*thumbHeight*samples))
		for x := range thumbWidth * samples {
			v := frame.Y[row+(2*x+1)*b.Dx()/(2*thumbWidth*samples)]
			thumb[y/samples*thumbWidth+x/samples] += float32(v) / (samples * samples)
		}
	}
	return thumb
}
