package warp

import (
	"image"
	"math"

	"lipsync/internal/render"
	"lipsync/internal/signal/dsp"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// blur tells how blurred a face is by motion, focus or a dissolve: the standard deviations of a Gaussian along the line of the pupils and
// across it, canonical.
type blur struct{ along, across float32 }

const (
	blurMost   = .2   // a face that is more blurred has hardly any features
	blurUnseen = .025 // blur that isn't seen, some 1.5 mm. The readings of the sharp frames of a clip differ by less, in seven clips
)

// blur reads the blur of a face. It takes a sharp picture for one
// of steps: the mean squared difference of two places then grows with their distance. Blur makes it grow with the square of the distance,
// up to distances of some of its standard deviations. So the differences at a distance and at four times of it tell the blur. Noise
// hides a large blur from small distances, and large distances don't tell a small one: the largest reading counts.
func (g *upperFace) blur() (b blur) {
	differences := func(dx, dy int) (sum float64) {
		for y := range upperHeight - dy {
			for x := range upperWidth - dx {
				sum += float64(square(g[y+dy][x+dx] - g[y][x]))
			}
		}
		return sum / float64((upperHeight-dy)*(upperWidth-dx))
	}
	for _, d := range [...]int{1, 2, 4} {
		unit := float32(d) / upperScale
		b.along = max(b.along, unit*stepBlur(differences(d, 0)/differences(4*d, 0)))
		b.across = max(b.across, unit*stepBlur(differences(0, d)/differences(0, 4*d)))
	}
	return blur{min(b.along, blurMost), min(b.across, blurMost)}
}

// stepBlur returns the standard deviation of the Gaussian by which a picture of steps is blurred if the mean squared difference of two
// places is ratio times that at four times their distance. That distance is the unit.
func stepBlur(ratio float64) float32 {
	// The mean squared difference at the distance k of a picture with that at k → |k| is, after a Gaussian of s, E|k + n| − E|n| with n
	// normal of the variance 2s².
	difference := func(k, s float64) float64 {
		return k*math.Erf(k/(2*s)) + 2*s/math.Sqrt(math.Pi)*math.Expm1(-k*k/(4*s*s))
	}
	low, high := 1e-3, blurMost*64.
	if !(ratio < difference(1, low)/difference(4, low)) { // also if the picture has no differences
		return 0
	}
	for range 20 {
		if s := (low + high) / 2; difference(1, s)/difference(4, s) > ratio {
			low = s
		} else {
			high = s
		}
	}
	return float32(low)
}

// beyond returns the blur that makes a picture with the blur shown look like one with the blur b. It is 0 if that wouldn't be seen.
func (b blur) beyond(shown blur) blur {
	more := func(b, shown float32) float32 { return sqrt(max(square(b)-square(shown)-square(blurUnseen), 0)) }
	return blur{more(b.along, shown.along), more(b.across, shown.across)}
}

// soften blurs a mouth that was painted on a frame, as if it had been there when the frame became blurred.
func (b blur) soften(m *render.Mouth, frame *image.YCbCr, to geom.Similarity) {
	if b == (blur{}) {
		return
	}
	for y := m.Mask.Rect.Min.Y; y < m.Mask.Rect.Max.Y; y++ {
		for x := m.Mask.Rect.Min.X; x < m.Mask.Rect.Max.X; x++ {
			if m.Mask.AlphaAt(x, y).A == 0 { // then the luma isn't painted
				m.Image.Y[m.Image.YOffset(x, y)] = frame.Y[frame.YOffset(x, y)]
			}
		}
	}
	at := m.Image.Rect.Min.Sub(frame.Rect.Min)
	x, y := sqrt(square(b.along*to.A)+square(b.across*to.B)), sqrt(square(b.along*to.B)+square(b.across*to.A))
	soften(pixels.Luma(m.Image), pixels.Luma(frame), at, float64(x), float64(y))
	blue, red := pixels.Chroma(m.Image)
	frameBlue, frameRed := pixels.Chroma(frame)
	soften(blue, frameBlue, at.Div(2), float64(x/2), float64(y/2))
	soften(red, frameRed, at.Div(2), float64(x/2), float64(y/2))
}

// soften filters a part of a plane by Gaussians along its rows and columns. It lies at a place of the plane, which goes on around it.
func soften(part, plane pixels.Plane[uint8], at image.Point, alongRows, alongColumns float64) {
	beside, above := int(2*alongRows)+1, int(2*alongColumns)+1
	mixed := pixels.NewPlane[float32](part.Width+2*beside, part.Height+2*above)
	row := make([]float32, mixed.Width)
	for y := range mixed.Height {
		for x := range row {
			row[x] = float32(plane.At(at.X+x-beside, at.Y+y-above))
		}
		if y >= above && y < above+part.Height {
			for x, v := range part.Row(y - above) {
				row[beside+x] = float32(v)
			}
		}
		copy(mixed.Row(y), dsp.Gaussian(row, alongRows))
	}
	column := make([]float32, mixed.Height)
	for x := range part.Width {
		for y := range column {
			column[y] = mixed.At(beside+x, y)
		}
		for y, v := range dsp.GaussianOf(column, alongColumns, above, above+part.Height) {
			part.Row(y)[x] = uint8(v + .5)
		}
	}
}
