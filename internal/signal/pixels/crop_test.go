package pixels

import (
	"image"
	"math"
	"testing"

	"lipsync/internal/signal/geom"
)

func TestEven(t *testing.T) {
	for _, c := range []struct{ r, want image.Rectangle }{
		{image.Rect(0, 0, 4, 4), image.Rect(0, 0, 4, 4)},
		{image.Rect(1, 1, 3, 3), image.Rect(0, 0, 4, 4)},
		{image.Rect(-1, -3, 1, 3), image.Rect(-2, -4, 2, 4)},
		{image.Rect(3, 5, 3, 5), image.Rect(2, 4, 4, 6)},
	} {
		if got := Even(c.r); got != c.want {
			t.Errorf("got %v, want %v of %v", got, c.want, c.r)
		}
	}
}

func TestBilinear(t *testing.T) {
	// 3 × 2 pixels in rows of 4.
	pix := []uint8{0, 10, 20, 99, 100, 110, 120}
	for _, c := range []struct{ x, y, want float32 }{
		{0, 0, 0}, {2, 1, 120}, {1, 0, 10}, {.5, 0, 5}, {0, .5, 50}, {1.5, .5, 65}, {1.25, .1, 22.5},
		{-5, 0, 0}, {9, 0, 20}, {0, -9, 0}, {2, 1.5, 120}, {9, 9, 120}, {-1, 9, 100}, {1.9999, .9999, 119.989},
	} {
		if got := (Plane[uint8]{pix, 3, 2, 4}).Bilinear(c.x, c.y); distance(got, c.want) > 1e-3 {
			t.Errorf("at %g, %g: got %g, want %g", c.x, c.y, got, c.want)
		}
	}
	if got := (Plane[uint8]{[]uint8{7}, 1, 1, 1}).Bilinear(.7, -3); got != 7 {
		t.Errorf("one pixel: got %g, want 7", got)
	}
}

func TestCrop(t *testing.T) {
	frame := gradient(image.Rect(0, 0, 100, 80))
	for _, c := range []struct {
		name string
		area image.Rectangle
		eyes float32
		want image.Rectangle // empty: no picture
	}{
		{"within", image.Rect(20, 20, 60, 50), 20, image.Rect(20, 20, 60, 50)},
		{"odd corners", image.Rect(21, 21, 59, 49), 20, image.Rect(20, 20, 60, 50)},
		{"past the left top corner", image.Rect(-30, -31, 41, 43), 20, image.Rect(0, 0, 42, 44)},
		{"past the right bottom corner", image.Rect(61, 41, 500, 500), 20, image.Rect(60, 40, 100, 80)},
		{"larger than the frame", image.Rect(-50, -50, 500, 500), 200, image.Rect(0, 0, 100, 80)},
		{"outside", image.Rect(200, 200, 300, 300), 20, image.Rectangle{}},
		{"nearly outside", image.Rect(-50, 0, 9, 50), 20, image.Rectangle{}},
		{"a strip of a huge face", image.Rect(-5000, -50, 18, 500), 5000, image.Rectangle{}},
		{"nothing", image.Rectangle{}, 0, image.Rectangle{}},
	} {
		p := NewCrop(frame, c.area, c.eyes)
		if p == nil || c.want.Empty() {
			if (p == nil) != c.want.Empty() {
				t.Errorf("%s: a picture: %t, want %v", c.name, p != nil, c.want)
			}
			continue
		}
		if p.Rect != c.want {
			t.Errorf("%s: got %v, want %v", c.name, p.Rect, c.want)
		}
		for y := p.Rect.Min.Y; y < p.Rect.Max.Y; y++ {
			for x := p.Rect.Min.X; x < p.Rect.Max.X; x++ {
				if got, want := p.YCbCrAt(x, y), frame.YCbCrAt(x, y); got != want {
					t.Fatalf("%s: at %d, %d: got %v, want %v", c.name, x, y, got, want)
				}
			}
		}
		p.Soft(geom.Point{X: -1e6, Y: 1e6})
	}
	p := NewCrop(frame, image.Rect(0, 0, 40, 40), 20)
	before := p.Y[0]
	frame.Y[0]++
	if p.Y[0] != before {
		t.Error("the picture changes with the frame")
	}
}

// TestSoft checks that the soft luma is in its place, whatever its scale.
func TestSoft(t *testing.T) {
	frame := gradient(image.Rect(0, 0, 400, 300))
	for _, eyes := range []float32{10, 64, 100, 130, 200, 300} {
		p := NewCrop(frame, image.Rect(10, 20, 390, 290), eyes)
		for _, q := range []geom.Point{{X: 100, Y: 100}, {X: 200.5, Y: 150.25}, {X: 333, Y: 77}} {
			if got, want := p.Soft(q), brightness(q); distance(got, want) > 1 {
				t.Errorf("eyes %g apart, at %v: got %g, want %g", eyes, q, got, want)
			}
		}
	}
}

// gradient returns a frame that is brighter to the right and below.
func gradient(r image.Rectangle) *image.YCbCr {
	f := image.NewYCbCr(r, image.YCbCrSubsampleRatio420)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			f.Y[f.YOffset(x, y)] = uint8(math.Round(float64(brightness(geom.Point{X: float32(x), Y: float32(y)}))))
			f.Cb[f.COffset(x, y)], f.Cr[f.COffset(x, y)] = uint8(x/2), uint8(y/2)
		}
	}
	return f
}

func brightness(q geom.Point) float32 { return q.X/4 + q.Y/3 }

func distance(a, b float32) float32 { return max(a-b, b-a) }

// TestSoftGrid compares the grid with its places read one by one.
func TestSoftGrid(t *testing.T) {
	p := NewCrop(gradient(image.Rect(0, 0, 400, 300)), image.Rect(10, 20, 390, 290), 150)
	to := geom.Similarity{A: 80, B: 30, X: 150, Y: 120}
	var grid [12 * 7]float32
	p.SoftGrid(grid[:], 12, to, geom.Point{X: -.5, Y: -.75}, .125)
	for i, got := range grid {
		want := p.Soft(to.Apply(geom.Point{X: -.5 + .125*float32(i%12), Y: -.75 + .125*float32(i/12)}))
		if distance(got, want) > .01 {
			t.Errorf("value %d: got %g, want %g", i, got, want)
		}
	}
}
