package tracking

import "image"

// cutDetector finds the frames that start a new shot.
type cutDetector struct {
	last  thumbnail
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
func (c *cutDetector) add(view *thumbnail) bool {
	var change float32
	for i, v := range view {
		change += max(v-c.last[i], c.last[i]-v) / float32(len(view))
	}
	c.last = *view
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

// thumbnail is the means of a coarse grid of luma samples.
type thumbnail [thumbWidth * thumbHeight]float32

func thumbnailOf(frame *image.YCbCr) (thumb thumbnail) {
	const samples = 4 // a cell, each way
	b := frame.Rect
	var columns [thumbWidth * samples]int
	for x := range columns {
		columns[x] = (2*x + 1) * b.Dx() / (2 * len(columns))
	}
	for y := range thumbHeight * samples {
		row := frame.Y[frame.YOffset(b.Min.X, b.Min.Y+(2*y+1)*b.Dy()/(2*thumbHeight*samples)):]
		cells := thumb[y/samples*thumbWidth:][:thumbWidth]
		for x, at := range columns {
			cells[x/samples] += float32(row[at]) / (samples * samples)
		}
	}
	return thumb
}

// changed tells whether the picture differs much from one before in some cells whose
// places, as shares of width and height, aren't covered.
func (v *thumbnail) changed(before *thumbnail, covered func(x, y float32) bool) bool {
	const much, least = 24, 4 // grey levels; cells, fewer than a large face covers
	n := 0
	for i, a := range v {
		if d := a - before[i]; d < much && d > -much {
			continue
		}
		if !covered((float32(i%thumbWidth)+.5)/thumbWidth, (float32(i/thumbWidth)+.5)/thumbHeight) {
			n++
		}
	}
	return n >= least
}
