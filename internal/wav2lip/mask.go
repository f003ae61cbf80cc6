package wav2lip

import (
	"image"
	"math"

	"lipsync/internal/geom"
	"lipsync/internal/pixels"
)

// The mask on the canonical face is a superellipse. It reaches from the base of the nose down to the chin of an open mouth.
// Lengths are canonical. They were chosen by eye, as all constants of painting here that have no other reason.
const (
	maskX, maskY               = 1.2, 1.64 // its centre
	maskHalf, maskTall         = .82, .6   // half its width and height
	maskPower          float32 = 3         // its exponent
	maskSoft           float32 = .3        // width of its soft edge, as a share of the way to the centre
	ringBottom                 = 1.5       // colours are compared above this y, since the chin may have moved below it
)

// maskAt returns how opaque the network's face is at a canonical place, 0 to 1.
func maskAt(c geom.Point) float32 {
	x, y := abs(c.X-maskX)/maskHalf, abs(c.Y-maskY)/maskTall
	d := pow(pow(x, maskPower)+pow(y, maskPower), 1/maskPower)
	t := min(max((1-d)/maskSoft, 0), 1)
	return t * t * (3 - 2*t)
}

// newMask returns the mask of a crop of size × size pixels, and the weights of its soft edge, the ring. These are 1 where the mask
// is a half, and 0 where it is 0 or 1, and below ringBottom.
func newMask(size int) (mask, ring []float32) {
	mask, ring = make([]float32, size*size), make([]float32, size*size)
	for i := range mask {
		c := place(size, float32(i%size)+.5, float32(i/size)+.5)
		mask[i] = maskAt(c)
		if c.Y < ringBottom {
			ring[i] = 4 * mask[i] * (1 - mask[i])
		}
	}
	return mask, ring
}

// maskArea returns the rectangle of the frame that holds the mask.
func maskArea(onto geom.Similarity) image.Rectangle {
	c := onto.Apply(geom.Point{X: maskX, Y: maskY})
	aside := abs(onto.A)*maskHalf + abs(onto.B)*maskTall // of the turned rectangle around the mask
	above := abs(onto.B)*maskHalf + abs(onto.A)*maskTall
	return pixels.Even(image.Rect(int(c.X-aside)-1, int(c.Y-above)-1, int(c.X+aside)+2, int(c.Y+above)+2))
}

func pow(x, e float32) float32 { return float32(math.Pow(float64(x), float64(e))) }
