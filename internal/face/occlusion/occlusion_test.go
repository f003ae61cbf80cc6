package occlusion_test

import (
	"image"
	"image/color"
	"math"
	"testing"

	"lipsync/internal/face/alignment"
	"lipsync/internal/face/detection"
	"lipsync/internal/face/occlusion"
	"lipsync/internal/face/tracking"
	"lipsync/internal/test/facetest"
)

const width, height, eyes = 320, 300, 60

// The colours of objects: of a microphone, and of a hand. It is a quarter darker than the drawn head's cheek and a little less red, since it
// is in a light of its own.
var (
	dark = color.YCbCr{Y: 45, Cb: 128, Cr: 128}
	skin = func() color.YCbCr {
		h := facetest.Head{X: 160, Y: 110, Eyes: eyes}
		x, y := h.At(.55, .8)
		c := facetest.Frame(width, height, h).YCbCrAt(int(x), int(y))
		return color.YCbCr{Y: c.Y / 4 * 3, Cb: c.Cb + 2, Cr: c.Cr - 4}
	}()
)

// scene is a video of one head.
type scene struct {
	frames int
	head   func(i int) facetest.Head
	draw   func(i int, h facetest.Head, f *image.YCbCr) // what is in front of it; may be nil
	track  func(i int) int                              // the number of its track, -1 if it isn't found; nil: it is 3
}

// speaking is a head that sways and speaks. Its lips touch about half of the time.
func speaking(i int) facetest.Head {
	return facetest.Head{X: 160 + 3*math.Sin(float64(i)/7), Y: 110, Eyes: eyes, Turn: .02 * math.Sin(float64(i)/9), Open: .2 * max(math.Sin(float64(i)/2), 0)}
}

// murmuring is a head that sways and hardly opens its mouth.
func murmuring(i int) facetest.Head {
	h := speaking(i)
	h.Open *= .3
	return h
}

// rising returns how much of its way up an object has gone in a frame, 0 to 1: it comes at frame 40 and has gone at frame 70.
func rising(i int) float64 { return min(max(min(float64(i-40), float64(70-i))/8, 0), 1) }

// held draws an object that comes up from below, and stays in front of the mouth for a while.
func held(o facetest.Object) func(int, facetest.Head, *image.YCbCr) {
	return func(i int, h facetest.Head, f *image.YCbCr) {
		if up := rising(i); up > 0 {
			o.X, o.Y = h.At(.05, 2.6-1.9*up)
			o.Draw(f)
		}
	}
}

// see shows the scene to an analyser.
func (s scene) see() *occlusion.Analyser {
	a, aligner := occlusion.New(), alignment.NewAligner(25)
	add := func(frames []alignment.Frame) {
		for _, f := range frames {
			a.Add(f)
		}
	}
	for i := range s.frames {
		h := s.head(i)
		f := facetest.Frame(width, height, h)
		if s.draw != nil {
			s.draw(i, h, f)
		}
		number := 3
		if s.track != nil {
			number = s.track(i)
		}
		var faces []tracking.Face
		if number >= 0 {
			box := detection.Box{X: float32(h.X), Y: float32(h.Y), Size: 2 * eyes}
			faces = append(faces, tracking.Face{Track: number, Face: detection.Face{Box: box, Landmarks: h.Landmarks()}, Crop: h.Crop(f)})
		}
		add(aligner.Add(faces, false))
	}
	add(aligner.End())
	a.End()
	return a
}

// mask returns an opaque mask of the mouth of a head, and what is left of it under a cover.
func mask(h facetest.Head, c *occlusion.Cover) (m *image.Alpha, left bool) {
	x, y := h.At(0, 1.15)
	m = image.NewAlpha(image.Rect(int(x)-40, int(y)-24, int(x)+40, int(y)+30))
	for i := range m.Pix {
		m.Pix[i] = 255
	}
	if c == nil {
		return m, true
	}
	return m, c.Uncover(m)
}

// TestObjects checks that a mouth stays as it is where an object is in front of it, and is seen in all other frames.
func TestObjects(t *testing.T) {
	for name, o := range map[string]facetest.Object{
		"microphone": {Width: 80, Colour: dark},
		"hand":       {Width: 110, Colour: skin, Groove: 25},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scene{frames: 100, head: murmuring, draw: held(o)}
			a := s.see()
			for i := range s.frames {
				h, up := murmuring(i), rising(i)
				o.X, o.Y = h.At(.05, 2.6-1.9*up)
				m, left := mask(h, a.Cover(3, i))
				if up == 1 && left {
					t.Errorf("frame %d: some of the mouth is painted, want all of it hidden", i)
				}
				if (i < 36 || i > 74) && a.Cover(3, i) != nil {
					t.Errorf("frame %d has a cover, without an object", i)
				}
				for y := m.Rect.Min.Y; y < m.Rect.Max.Y; y++ {
					for x := m.Rect.Min.X; x < m.Rect.Max.X; x++ {
						if up == 1 && o.Covers(float64(x), float64(y)) && m.AlphaAt(x, y).A > 0 {
							t.Fatalf("frame %d: the object is painted over at %d, %d, by %d of 255", i, x, y, m.AlphaAt(x, y).A)
						}
					}
				}
			}
		})
	}
}

// TestBrokenTrack checks that an object is found that breaks the track of a head, although it is in front of its mouth from the first frame
// of the next track on.
func TestBrokenTrack(t *testing.T) {
	track := func(i int) int {
		switch {
		case i < 44:
			return 3
		case i < 49 || i == 66:
			return -1
		case i < 66:
			return 4
		}
		return 5
	}
	a := scene{frames: 100, head: murmuring, draw: held(facetest.Object{Width: 80, Colour: dark}), track: track}.see()
	for i := range 100 {
		if n := track(i); n >= 0 && rising(i) == 1 && a.Cover(n, i) == nil {
			t.Errorf("frame %d has no cover, want one of track %d", i, n)
		} else if n >= 0 && (i < 36 || i > 74) && a.Cover(n, i) != nil {
			t.Errorf("frame %d has a cover, without an object", i)
		}
	}
}

// TestNothingInFront checks that nothing is found where a head moves, speaks, or is lit differently for a while, or where an object stays
// away from the lips.
func TestNothingInFront(t *testing.T) {
	rest := func(i int) facetest.Head {
		return facetest.Head{X: 160 + math.Sin(float64(i)/7)/2, Y: 110, Eyes: eyes}
	}
	for name, s := range map[string]scene{
		"speaking": {frames: 100, head: speaking},
		"speaks once, widely": {frames: 120, head: func(i int) facetest.Head {
			h := rest(i)
			h.Open = .35 * min(max(0, math.Sin(float64(i-60)/4)), 1)
			if i < 60 || i > 84 {
				h.Open = 0
			}
			return h
		}},
		"nods and turns once": {frames: 120, head: func(i int) facetest.Head {
			h, by := rest(i), math.Sin(math.Pi*min(max(float64(i-60)/30, 0), 1))
			h.Tilt, h.Turn, h.X = .15*by, .25*by, h.X+20*by
			return h
		}},
		"tilts back with a wide mouth": {frames: 120, head: func(i int) facetest.Head {
			h, by := rest(i), math.Sin(math.Pi*min(max(float64(i-60)/30, 0), 1))
			h.Back, h.Open, h.Tilt = .5*by, .38*by, -.1*by
			return h
		}},
		"a lamp is switched on": {frames: 100, head: speaking, draw: func(i int, _ facetest.Head, f *image.YCbCr) {
			if i < 60 || i > 85 {
				return
			}
			for k, y := range f.Y {
				f.Y[k] = uint8(min(16+1.3*(float64(y)-16), 235))
			}
			for k := range f.Cb {
				f.Cb[k], f.Cr[k] = f.Cb[k]-8, f.Cr[k]+6
			}
		}},
		"a soft shadow": {frames: 100, head: speaking, draw: func(i int, _ facetest.Head, f *image.YCbCr) {
			for k, y := range f.Y {
				d := (float64(k%f.YStride) - 12*float64(i-50)) / 90
				f.Y[k] = uint8(16 + (float64(y)-16)*(1-.4*math.Exp(-d*d)))
			}
		}},
		"a microphone below the chin": {frames: 100, head: speaking, draw: func(i int, h facetest.Head, f *image.YCbCr) {
			if i > 60 && i < 85 {
				x, y := h.At(0, 1.75)
				facetest.Object{X: x, Y: y, Width: 50, Colour: dark}.Draw(f)
			}
		}},
		"too few frames": {frames: 24, head: speaking, draw: func(i int, h facetest.Head, f *image.YCbCr) {
			held(facetest.Object{Width: 80, Colour: dark})(i+34, h, f)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if n := s.see().Covers(); n > 0 {
				t.Errorf("got covers of %d frames, want none", n)
			}
		})
	}
}
