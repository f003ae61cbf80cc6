package tracking

import "image"

// cutDetector finds the frames that start a new shot.
type cutDetector struct {
	last  thumbnail
	moved float32 // mean change in the last frames, levels
	seen  int     // number of frames
}

// Constants of cuts and of changes, by eye.
const (
	thumbWidth, thumbHeight = 32, 18 // cells
	thumbSamples            = 4      // samples of a cell in each direction

	cutChange = 14 // a cut changes cells by more levels of luma than this, of 255, in the mean
	cutRatio  = 4  // and by more than so many times the change of the frames before it
	forgetful = .3 // share of the last frame in the mean change of the last frames

	cellChange = 24 // a cell changes by so many levels when somebody comes into it
	leastCells = 4  // so many cells change then, fewer than a large face covers
)

// add adds the next frame and tells whether it starts a new shot.
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
		c.moved += forgetful * (change - c.moved)
	}
	return cut
}

// thumbnail holds the mean luma of the cells of a frame, row by row.
type thumbnail [thumbWidth * thumbHeight]float32

// thumbnailOf returns the thumbnail of a frame, by some of its pixels.
func thumbnailOf(frame *image.YCbCr) (thumb thumbnail) {
	b := frame.Rect
	var columns [thumbWidth * thumbSamples]int
	for x := range columns {
		columns[x] = (2*x + 1) * b.Dx() / (2 * len(columns))
	}
	for y := range thumbHeight * thumbSamples {
		row := frame.Y[frame.YOffset(b.Min.X, b.Min.Y+(2*y+1)*b.Dy()/(2*thumbHeight*thumbSamples)):]
		cells := thumb[y/thumbSamples*thumbWidth:][:thumbWidth]
		for x, at := range columns {
			cells[x/thumbSamples] += float32(row[at]) / (thumbSamples * thumbSamples)
		}
	}
	return thumb
}

// changed tells whether at least leastCells cells differ much from those of an earlier thumbnail. It leaves out cells that
// are covered. x and y are shares of the frame's width and height.
func (v *thumbnail) changed(before *thumbnail, covered func(x, y float32) bool) bool {
	n := 0
	for i, a := range v {
		if d := a - before[i]; d < cellChange && d > -cellChange {
			continue
		}
		if !covered((float32(i%thumbWidth)+.5)/thumbWidth, (float32(i/thumbWidth)+.5)/thumbHeight) {
			n++
		}
	}
	return n >= leastCells
}
