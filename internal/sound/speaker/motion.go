package speaker

import (
	"math"

	"lipsync/internal/face/alignment"
	"lipsync/internal/face/registration"
)

// crop is the luma of an upright face, row by row: a square from the brows to below the chin.
type crop [cropSize * cropSize]uint8

const (
	cropSize   = 112 // side in pixels: that of Light-ASD's input
	cropWidth  = 2.5 // side, canonical: that of the faces that Light-ASD was trained on
	cropCentre = .6  // distance of its centre below the pupils, canonical
	smallest   = 6   // least distance of the pupils in pixels: smaller faces show no lips
)

// cropGrid holds the places of the crop's pixels on the canonical face.
var cropGrid = registration.Grid{
	Left: alignment.Middle.X - cropWidth/2, Top: alignment.Middle.Y + cropCentre - cropWidth/2,
	Scale: cropSize / cropWidth, Width: cropSize, Height: cropSize,
}

// follower holds the last crop of one track, and the last motion of its mouth.
type follower struct {
	track  int32
	frame  int     // last frame with the face
	due    bool    // a tick has passed since face was set
	face   *crop   // the last crop; nil before the first
	half   *half   // the last crop at half the size
	motion float32 // of the mouth since the crop before, see half.motion
	window *Window // of this crop and those before; nil without a network
}

// add compares the face in the next frame with the last crop.
func (o *follower) add(f *alignment.Face) {
	face := cropOf(f)
	if face == nil {
		return
	}
	half := face.half()
	if o.half != nil {
		o.motion = half.motion(o.half)
	}
	o.face, o.half, o.due = face, half, false
}

// cropOf returns the crop of a face. It is nil if the tracker missed the face, or if the face is too
// small.
func cropOf(f *alignment.Face) *crop {
	if f.Crop == nil || !(f.To.Scale() >= smallest) {
		return nil
	}
	var soft [cropSize * cropSize]float32
	cropGrid.Sample(soft[:], f.Crop, f.To)
	out := new(crop)
	for i, v := range soft {
		out[i] = uint8(v + .5)
	}
	return out
}

// half is a crop at half the size, in levels of luma.
type half [halfSize * halfSize]float32

const halfSize = cropSize / 2

func (c *crop) half() *half {
	h := new(half)
	for i := range h {
		a := c[i/halfSize*2*cropSize+i%halfSize*2:]
		h[i] = (float32(a[0]) + float32(a[1]) + float32(a[cropSize]) + float32(a[cropSize+1])) / 4
	}
	return h
}

// These constants describe the mouth in a half crop, from above the base of the nose to below the lips.
// They are in pixels; the pupils are 22 apart.
const (
	mouthLeft, mouthRight         = halfSize/2 - 13, halfSize/2 + 13
	mouthTop, mouthBottom         = 29, 47
	mouthPixels                   = (mouthRight - mouthLeft) * (mouthBottom - mouthTop)
	farthest                      = 4  // a head moves by so much in a tick, at most: the mouth is searched so far away in each direction
	leastVariance                 = 16 // of a face's pixels, levels²: a face with less contrast shows only noise
	leastSlope                    = 1  // added to the variance of slopes, levels², so that it isn't 0 where there are none
	mostMotion            float32 = .6 // larger readings count as this
)

// motion returns how much the mouth changed since before. It is first found where the head has moved it.
// The motion is the standard deviation of the difference, divided by that of the face's pixels: .05 to
// .3 for a mouth that speaks, and .01 to .05 for a mouth at rest.
func (h *half) motion(before *half) float32 {
	least, at := float32(math.Inf(1)), 0
	for y := -farthest; y <= farthest; y++ {
		for x := -farthest; x <= farthest; x++ {
			if c := h.change(before, y*halfSize+x); c < least {
				least, at = c, y*halfSize+x
			}
		}
	}
	var sum, squares float32
	for _, v := range before {
		sum += v
		squares += v * v
	}
	mean := sum / float32(len(before))
	variance := max(squares/float32(len(before))-mean*mean, leastVariance)
	return min(float32(math.Sqrt(h.rest(before, at)/float64(variance))), mostMotion)
}

// change returns the variance of the difference to the mouth before. The mouth has moved since by moved,
// which is a difference of indices of a half.
func (h *half) change(before *half, moved int) float32 {
	var sum, squares float32
	for y := mouthTop; y < mouthBottom; y++ {
		a := before[y*halfSize+mouthLeft : y*halfSize+mouthRight]
		b := h[y*halfSize+mouthLeft+moved:]
		for i, v := range a {
			d := b[i] - v
			sum += d
			squares += d * d
		}
	}
	return squares/mouthPixels - sum/mouthPixels*sum/mouthPixels
}

// rest returns the part of change that a movement by less than a pixel doesn't explain: the residual
// of a least squares fit by the slopes.
func (h *half) rest(before *half, moved int) float64 {
	var sums [3]float64 // of the difference and the slopes along x and y
	var products [3][3]float64
	for y := mouthTop; y < mouthBottom; y++ {
		for i := y*halfSize + mouthLeft; i < y*halfSize+mouthRight; i++ {
			v := [3]float64{float64(h[i+moved] - before[i]), float64(before[i+1]-before[i-1]) / 2,
				float64(before[i+halfSize]-before[i-halfSize]) / 2}
			for a := range v {
				sums[a] += v[a]
				for b := range a + 1 {
					products[a][b] += v[a] * v[b]
				}
			}
		}
	}
	covariance := func(a, b int) float64 { return (products[a][b] - sums[a]*sums[b]/mouthPixels) / mouthPixels }
	xx, xy, yy := covariance(1, 1)+leastSlope, covariance(2, 1), covariance(2, 2)+leastSlope
	dx, dy := covariance(1, 0), covariance(2, 0)
	explained := (yy*dx*dx - 2*xy*dx*dy + xx*dy*dy) / (xx*yy - xy*xy)
	return max(covariance(0, 0)-explained, 0)
}
