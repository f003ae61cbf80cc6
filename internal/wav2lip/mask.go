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
		c := geom.Point{
			X: cropLeft + (float32(i%size)+.5)/float32(size)*(cropRight-cropLeft),
			Y: cropTop + (float32(i/size)+.5)/float32(size)*(cropBottom-cropTop),
		}
		mask[i] = maskAt(c)
		if c.Y < lips {
			ring[i] = 4 * mask[i] * (1 - mask[i])
		}
	}
	return mask, ring
}

// maskArea returns the pixels of the frame that the mask may touch.
func maskArea(onto geom.Similarity) image.Rectangle {
	lowest, highest := [2]float32{math.MaxFloat32, math.MaxFloat32}, [2]float32{-math.MaxFloat32, -math.MaxFloat32}
	for _, c := range []geom.Point{{X: -1, Y: -1}, {X: 1, Y: -1}, {X: -1, Y: 1}, {X: 1, Y: 1}} {
		q := onto.Apply(geom.Point{X: maskX + c.X*maskHalf, Y: maskY + c.Y*maskTall})
		for k, v := range [2]float32{q.X, q.Y} {
			lowest[k], highest[k] = min(lowest[k], v), max(highest[k], v)
		}
	}
	return pixels.Even(image.Rect(int(lowest[0])-1, int(lowest[1])-1, int(highest[0])+2, int(highest[1])+2))
}

func power(x, e float32) float32 { return float32(math.Pow(float64(x), float64(e))) }
