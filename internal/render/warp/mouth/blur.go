package mouth

import (
	"image"
	"math"

	"lipsync/internal/face/alignment"
	"lipsync/internal/face/registration"
	"lipsync/internal/render/engine"
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

// blur reads the blur of a face.
func (g upperFace) blur() blur { return blurOf(g, alignment.Band) }

// blurOf reads the blur of a picture with the luma in the pixels of a grid. It takes a sharp picture for one of steps:
// the mean squared difference of two places then grows with their distance. Blur makes it grow with the square of the distance, up to
// distances of some of its standard deviations. So the differences at a distance and at four times of it tell the blur. Noise hides a large
// blur from small distances, and large distances don't tell a small one: the largest reading counts.
func blurOf(luma []float32, g registration.Grid) (b blur) {
	width, height := g.Width, g.Height
	differences := func(dx, dy int) (sum float64) {
		for y := range height - dy {
			from, to := luma[y*width:], luma[(y+dy)*width+dx:]
			for x := range width - dx {
				sum += float64(square(to[x] - from[x]))
			}
		}
		return sum / float64((height-dy)*(width-dx))
	}
	for _, d := range [...]int{1, 2, 4} {
		unit := float32(d) / g.Scale
		b.along = max(b.along, unit*stepBlur(differences(d, 0)/differences(4*d, 0)))
		b.across = max(b.across, unit*stepBlur(differences(0, d)/differences(0, 4*d)))
	}
	return blur{min(b.along, blurMost), min(b.across, blurMost)}
}

// The grid in which the blur of lips is read: some 38 × 30 mm around their middle.
const lipsWidth, lipsHeight, lipsScale = 40, 32, 66

// Softness reads the blur across the lips of an example. It is 0 if they are below the frame.
func (e *Example) Softness() float32 {
	if e.Pixels.Rect.Empty() {
		return 0
	}
	o := &e.Shown
	around := registration.Grid{
		Left: o.Middle() - lipsWidth/2./lipsScale, Top: (o.Top.middle()+o.Bottom.middle())/2 - lipsHeight/2./lipsScale,
		Scale: lipsScale, Width: lipsWidth, Height: lipsHeight,
	}
	return blurOf(lumaIn(e.Pixels, o.To, around), around).across
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

// soften blurs a painted mouth as the frame is blurred.
func (l *layer) soften(m *engine.Mouth) {
	if l.blur == (blur{}) {
		return
	}
	for y := m.Mask.Rect.Min.Y; y < m.Mask.Rect.Max.Y; y++ {
		for x := m.Mask.Rect.Min.X; x < m.Mask.Rect.Max.X; x++ {
			if m.Mask.AlphaAt(x, y).A == 0 { // then the luma isn't painted
				m.Image.Y[m.Image.YOffset(x, y)] = l.frame.Y[l.frame.YOffset(x, y)]
			}
		}
	}
	toFace := l.onto.Inverse()
	share := func(x, y int) float32 {
		return l.drawn(toFace.Apply(geom.Point{X: float32(m.Image.Rect.Min.X + x), Y: float32(m.Image.Rect.Min.Y + y)}))
	}
	halfShare := func(x, y int) float32 { return share(2*x, 2*y) }
	at := m.Image.Rect.Min.Sub(l.frame.Rect.Min)
	rows, columns := sqrt(square(l.blur.along*l.onto.A)+square(l.blur.across*l.onto.B)), sqrt(square(l.blur.along*l.onto.B)+square(l.blur.across*l.onto.A))
	softenPart(pixels.Luma(m.Image), pixels.Luma(l.frame), at, rows, columns, share)
	blue, red := pixels.Chroma(m.Image)
	frameBlue, frameRed := pixels.Chroma(l.frame)
	at = at.Div(2)
	softenPart(blue, frameBlue, at, rows/2, columns/2, halfShare)
	softenPart(red, frameRed, at, rows/2, columns/2, halfShare)
}

// drawn returns how much of a canonical place isn't blurred yet, 0 to 1: all of an example, and of a frame's own mouth the lips, with what is
// drawn between them.
func (l *layer) drawn(c geom.Point) float32 {
	if l.patch != nil {
		return 1
	}
	half := l.lips.height()/2 + max(l.shape.Gap-l.lips.Gap(), 0)/2
	right, down := c.X-l.lips.Middle()-l.shape.Shift.X, c.Y-(l.lips.Top.middle()+l.lips.Bottom.middle())/2-l.shape.Shift.Y
	return smoothstep(3 - 2*sqrt(square(2*right/l.shape.Width)+square(down/half)))
}

// softenPart blurs a part of a plane, which lies at a place of it, by standard deviations in pixels along its rows and columns. share tells how much of
// the blur each pixel of the part gets. Three box filters come near to a Gaussian, however wide it is.
func softenPart(part, plane pixels.Plane[uint8], at image.Point, rows, columns float32, share func(x, y int) float32) {
	across, along := boxes(rows), boxes(columns)
	beside, above := across[0]+across[1]+across[2], along[0]+along[1]+along[2]
	mixed := pixels.NewPlane[float32](part.Width+2*beside, part.Height+2*above)
	for y := range mixed.Height {
		row := mixed.Row(y)
		for x := range row {
			row[x] = float32(plane.At(at.X+x-beside, at.Y+y-above))
		}
		if y >= above && y < above+part.Height {
			for x, v := range part.Row(y - above) {
				row[beside+x] = float32(v)
			}
		}
	}
	scratch := make([]float32, max(mixed.Width, mixed.Height))
	for i := range across {
		pixels.BoxBlur(mixed, scratch, across[i], along[i])
	}
	for y := range part.Height {
		for x, v := range part.Row(y) {
			if s := share(x, y); s > 0 {
				part.Row(y)[x] = uint8(float32(v) + (mixed.At(beside+x, above+y)-float32(v))*s + .5)
			}
		}
	}
}

// boxes returns the radii of three box filters, whose variances together come nearest to that of a Gaussian. A radius r has (4r² + 4r) / 12.
func boxes(deviation float32) (radii [3]int) {
	left := square(deviation)
	for i := range radii {
		radii[i] = int((sqrt(12*left/float32(len(radii)-i)+1)-1)/2 + .5)
		left = max(left-float32(radii[i]*radii[i]+radii[i])/3, 0)
	}
	return radii
}
