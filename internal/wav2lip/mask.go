package wav2lip

import (
	"image"
	"math"

	"lipsync/internal/geom"
	"lipsync/internal/pixels"
)

// The mask on the canonical face: a superellipse below the base of the nose, as
// far as the chin goes when the mouth opens.
const (
	maskX, maskY               = 1.2, 1.64 // its centre
	maskHalf, maskTall         = .82, .6   // half its width and height
	maskSharp          float32 = 3         // its exponent
	maskSoft           float32 = .3        // its soft edge, as a share of the way to the centre
)

// maskAt tells how much of the network's face is seen at a canonical place.
func maskAt(c geom.Point) float32 {
	x, y := abs(c.X-maskX)/maskHalf, abs(c.Y-maskY)/maskTall
	d := power(power(x, maskSharp)+power(y, maskSharp), 1/maskSharp)
	t := min(max((1-d)/maskSoft, 0), 1)
	return t * t * (3 - 2*t)
}

// newMask makes the mask of a crop, and the ring of its soft edge. Below the
// lips the ring counts for nothing: there the chin may have moved.
func newMask(size int) (mask, ring []float32) {
	const lips = 1.5
	mask, ring = make([]float32, size*size), make([]float32, size*size)
	for i := range mask {
		c := place(size, float32(i%size)+.5, float32(i/size)+.5)
		mask[i] = maskAt(c)
		if c.Y < lips {
			ring[i] = 4 * mask[i] * (1 - mask[i])
		}
	}
	return mask, ring
}

// maskArea returns the pixels of the frame that the mask may touch.
func maskArea(onto geom.Similarity) image.Rectangle {
	c := onto.Apply(geom.Point{X: maskX, Y: maskY})
	aside := abs(onto.A)*maskHalf + abs(onto.B)*maskTall // of the turned rectangle around the mask
	above := abs(onto.B)*maskHalf + abs(onto.A)*maskTall
	return pixels.Even(image.Rect(int(c.X-aside)-1, int(c.Y-above)-1, int(c.X+aside)+2, int(c.Y+above)+2))
}

func power(x, e float32) float32 { return float32(math.Pow(float64(x), float64(e))) }
