// Package facetest draws frames with heads in them, for tests.
package facetest

import (
	"bytes"
	_ "embed"
	"image"
	"image/jpeg"
	"math"
	"sync"

	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// The first frame that internal/media/demo draws, cut around the head.
//
//go:embed head.jpg
var picture []byte

// decoded returns the picture's pixels. No one changes them.
var decoded = sync.OnceValue(func() *image.YCbCr {
	p, err := jpeg.Decode(bytes.NewReader(picture))
	if err != nil {
		panic(err)
	}
	return p.(*image.YCbCr)
})

// In the picture: the place between the pupils, and their distance.
const pictureX, pictureY, pictureEyes = 200, 248, 118

// Of the face, in distances of the pupils from between them.
const (
	Lips     = 1.13 // v of the line between the lips
	Chin     = 1.9  // v
	halfWide = .44  // of the mouth
)

// Nose and mouth are below this v: a tilt moves all of that, and stretches the
// part between it and the eyes.
const eyesEnd, noseStart = .15, .5

// When a head is tilted back, its chin's shadow takes a share of the light from the neck, less and less in some distance of the chin. The
// neck is so wide on either side, in distances of the pupils.
const shadow, shadowReach, neckHalfWide = .6, .3, .6

// Head is a head in a frame. It looks at the camera.
type Head struct {
	X, Y float64 // the place between the pupils, pixels
	Eyes float64 // distance of the pupils, pixels
	Turn float64 // clockwise, radians
	Open float64 // gap between the lips, in distances of the pupils
	Tilt float64 // how much lower nose and mouth are, in distances of the pupils
	Back float64 // how much higher the chin is, since the head is tilted back, in distances of the pupils; an open mouth lowers it then
}

// At returns the place in the frame of a place on the face: u to the right and
// v down from between the pupils, in their distances.
func (h Head) At(u, v float64) (x, y float64) {
	v += h.Tilt * min(max((v-eyesEnd)/(noseStart-eyesEnd), 0), 1)
	sin, cos := math.Sincos(h.Turn)
	return h.X + h.Eyes*(u*cos-v*sin), h.Y + h.Eyes*(u*sin+v*cos)
}

// Landmarks returns about where a detector finds the landmarks of the head in the frame,
// in the order of detection.Landmarks. Tests of that package use this one, so it cannot
// be imported here.
func (h Head) Landmarks() (places [14]geom.Point) {
	for k, p := range [len(places)][2]float64{
		{-.5, 0}, {.5, 0}, // pupils
		{-.75, .02}, {.75, .02}, {-.26, .02}, {.26, .02}, // outer and inner corners of the eyes
		{-.85, -.35}, {.85, -.35}, // brows
		{0, .62},                  // nose
		{-.44, 1.11}, {.44, 1.11}, // corners of the mouth
		{0, 1.02}, {0, 1.28 + h.Open}, // lips
		{0, .74}, // base of the nose
	} {
		x, y := h.At(p[0], p[1])
		places[k] = geom.Point{X: float32(x), Y: float32(y)}
	}
	return places
}

// Lips returns the edges of the lips in the frame, in the order of detection.Lips: the outer and the inner edge, each of the upper lip and
// of the lower one, from left to right.
func (h Head) Lips() (edges [2][2][11]geom.Point) {
	for k := range edges {
		for lip := range edges[k] {
			for i := range edges[k][lip] {
				u := halfWide * (2*float64(i)/float64(len(edges[k][lip])-1) - 1)
				round := 1 - u*u/(halfWide*halfWide)
				v := Lips - .02*(1-round) // the corners are a little higher
				switch {
				case k == 0 && lip == 0:
					v -= .11 * round
				case k == 0:
					v += (.15 + h.Open) * round
				case lip == 1:
					v += h.Open * round
				}
				x, y := h.At(u, v)
				edges[k][lip][i] = geom.Point{X: float32(x), Y: float32(y)}
			}
		}
	}
	return edges
}

// Crop copies the surroundings of the head, as much of them as a tracker does. It returns
// nil if next to nothing of them is in the frame.
func (h Head) Crop(frame *image.YCbCr) *pixels.Crop {
	area := image.Rect(int(h.X-1.35*h.Eyes), int(h.Y-.8*h.Eyes), int(h.X+1.35*h.Eyes), int(h.Y+2.15*h.Eyes))
	return pixels.NewCrop(frame, area, float32(h.Eyes))
}

// on is the inverse of At.
func (h Head) on(x, y float64) (u, v float64) {
	sin, cos := math.Sincos(h.Turn)
	dx, dy := (x-h.X)/h.Eyes, (y-h.Y)/h.Eyes
	u, v = dx*cos+dy*sin, dy*cos-dx*sin
	return u, v - h.Tilt*min(max((v-eyesEnd)/(noseStart+h.Tilt-eyesEnd), 0), 1)
}

// Frame draws heads before a wall, the last one in front.
func Frame(width, height int, heads ...Head) *image.YCbCr {
	f := Wall(width, height)
	for _, h := range heads {
		h.draw(f, decoded())
	}
	return f
}

// Wall draws a frame without a head.
func Wall(width, height int) *image.YCbCr {
	f := image.NewYCbCr(image.Rect(0, 0, width, height), image.YCbCrSubsampleRatio420)
	for i := range f.Y {
		x, y := i%f.YStride, i/f.YStride
		f.Y[i] = uint8(90 + 40*x/width + 20*y/height)
	}
	for i := range f.Cb {
		f.Cb[i], f.Cr[i] = 130, 122
	}
	return f
}

func (h Head) draw(f, from *image.YCbCr) {
	area := h.area(from.Rect).Intersect(f.Rect)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			s := h.spot(float64(x), float64(y), from)
			if s.seen == 0 {
				continue
			}
			s.over(&f.Y[f.YOffset(x, y)], 0)
			if x%2 == 0 && y%2 == 0 {
				c := h.spot(float64(x)+.5, float64(y)+.5, from)
				c.over(&f.Cb[f.COffset(x, y)], 1)
				c.over(&f.Cr[f.COffset(x, y)], 2)
			}
		}
	}
}

// area returns the part of the frame that the picture covers, and a little more.
func (h Head) area(picture image.Rectangle) (all image.Rectangle) {
	for _, px := range []float64{0, float64(picture.Dx())} {
		for _, py := range []float64{0, float64(picture.Dy())} {
			x, y := h.At((px-pictureX)/pictureEyes, (py-pictureY)/pictureEyes)
			all = all.Union(image.Rect(int(math.Floor(x))-1, int(math.Floor(y))-1, int(math.Ceil(x))+2, int(math.Ceil(y))+2))
		}
	}
	return all
}

// spot is the colour of a head at a place of the frame, and how much of it is seen.
type spot struct {
	colour [3]float64
	seen   float64
}

func (s spot) over(v *uint8, channel int) {
	*v = uint8(float64(*v) + (s.colour[channel]-float64(*v))*s.seen + .5)
}

// spot looks up a place of the frame in the picture, with the lower half of the
// face drawn down by an open mouth.
func (h Head) spot(x, y float64, from *image.YCbCr) spot {
	u, v := h.on(x, y)
	gap := h.Open * max(1-u*u/(halfWide*halfWide), 0)
	if v > Lips && v < Lips+gap {
		return spot{[3]float64{25, 123, 137}, 1}
	}
	light, chin := 1., Chin
	if h.Back > 0 {
		chin += h.Open - h.Back
	}
	switch {
	case v > Lips && v < chin:
		v = Lips + (v-Lips-gap)*(Chin-Lips)/(chin-Lips-gap)
	case h.Back > 0 && v >= chin:
		if math.Abs(u) < neckHalfWide {
			light -= shadow * math.Exp((chin-v)/shadowReach)
		}
		v += Chin - chin
	}
	px, py := pictureX+u*pictureEyes, pictureY+v*pictureEyes
	w, t := float64(from.Rect.Dx()), float64(from.Rect.Dy())
	inside := min(px, py, w-1-px, t-1-py)
	if inside <= 0 {
		return spot{}
	}
	const soft = 30 // edge of the picture, pixels
	q := geom.Point{X: float32(px), Y: float32(py)}
	cb, cr := pixels.ChromaAt(from, q)
	return spot{[3]float64{light * float64(pixels.LumaAt(from, q)), float64(cb), float64(cr)}, min(inside/soft, 1)}
}
