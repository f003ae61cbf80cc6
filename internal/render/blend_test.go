package render

import (
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// noise makes a picture of random pixels.
func noise(r image.Rectangle, seed uint64) *image.YCbCr {
	random := rand.New(rand.NewPCG(seed, 1))
	p := image.NewYCbCr(r, image.YCbCrSubsampleRatio420)
	for _, plane := range [][]byte{p.Y, p.Cb, p.Cr} {
		for i := range plane {
			plane[i] = byte(random.Uint32())
		}
	}
	return p
}

func clone(p *image.YCbCr) *image.YCbCr {
	c := *p
	c.Y, c.Cb, c.Cr = slices.Clone(p.Y), slices.Clone(p.Cb), slices.Clone(p.Cr)
	return &c
}

// TestBlend compares with the definition, for mouths inside, across each edge
// and outside the frame.
func TestBlend(t *testing.T) {
	var b blender
	for _, r := range []image.Rectangle{
		image.Rect(8, 6, 24, 20), image.Rect(-6, -4, 10, 8), image.Rect(30, 20, 60, 50),
		image.Rect(-10, -10, 60, 60), image.Rect(50, 50, 60, 60), image.Rect(0, 0, 40, 32),
	} {
		frame := noise(image.Rect(0, 0, 40, 32), 1)
		m := Mouth{Image: noise(r, 2), Mask: image.NewAlpha(r)}
		random := rand.New(rand.NewPCG(3, 1))
		for i := range m.Mask.Pix {
			m.Mask.Pix[i] = []uint8{0, 0, 1, 100, 254, 255, 255}[random.IntN(7)]
		}
		want := clone(frame)
		mixed := func(d, s uint8, alpha float64) uint8 {
			return uint8(math.Round((float64(d)*(255-alpha) + float64(s)*alpha) / 255))
		}
		for y := range 32 {
			for x := range 40 {
				i := want.YOffset(x, y)
				want.Y[i] = mixed(want.Y[i], m.Image.YCbCrAt(x, y).Y, float64(m.Mask.AlphaAt(x, y).A))
				if x%2 == 1 || y%2 == 1 {
					continue
				}
				sum := 0
				for _, p := range []image.Point{{x, y}, {x + 1, y}, {x, y + 1}, {x + 1, y + 1}} {
					sum += int(m.Mask.AlphaAt(p.X, p.Y).A)
				}
				i, alpha := want.COffset(x, y), float64((sum+2)/4)
				want.Cb[i] = mixed(want.Cb[i], m.Image.YCbCrAt(x, y).Cb, alpha)
				want.Cr[i] = mixed(want.Cr[i], m.Image.YCbCrAt(x, y).Cr, alpha)
			}
		}
		b.blend(frame, m, 255)
		if !slices.Equal(frame.Y, want.Y) || !slices.Equal(frame.Cb, want.Cb) || !slices.Equal(frame.Cr, want.Cr) {
			t.Errorf("%v: pixels differ from the definition", r)
		}
	}
}

// TestFade blends a mouth by a share, and checks that a share of 0 changes nothing.
func TestFade(t *testing.T) {
	r := image.Rect(8, 8, 40, 32)
	m := Mouth{Image: noise(r, 2), Mask: image.NewAlpha(r)}
	for i := range m.Mask.Pix {
		m.Mask.Pix[i] = 255
	}
	mask := slices.Clone(m.Mask.Pix)
	for _, share := range []uint8{0, 1, 128, 254, 255} {
		source, frame := noise(image.Rect(0, 0, 64, 48), 1), noise(image.Rect(0, 0, 64, 48), 1)
		mixed := func(a, b byte) byte { return byte(math.Round(float64(a) + (float64(b)-float64(a))*float64(share)/255)) }
		var b blender
		b.blend(frame, m, share)
		for y := range 48 {
			for x := range 64 {
				want := source.YCbCrAt(x, y)
				if (image.Point{x, y}).In(r) {
					to := m.Image.YCbCrAt(x, y)
					want.Y, want.Cb, want.Cr = mixed(want.Y, to.Y), mixed(want.Cb, to.Cb), mixed(want.Cr, to.Cr)
				}
				if got := frame.YCbCrAt(x, y); got != want {
					t.Fatalf("share %d at (%d, %d): got %v, want %v", share, x, y, got, want)
				}
			}
		}
	}
	if !slices.Equal(m.Mask.Pix, mask) {
		t.Error("the mask changed")
	}
}
