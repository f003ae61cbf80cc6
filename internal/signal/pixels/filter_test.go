package pixels

import (
	"image"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestShrink compares with means that are known, of a part of a frame that isn't at
// its corner, with rests that are left out.
func TestShrink(t *testing.T) {
	frame := image.NewYCbCr(image.Rect(0, 0, 10, 8), image.YCbCrSubsampleRatio420)
	for i := range frame.Y {
		frame.Y[i] = uint8(i%frame.YStride + 20*(i/frame.YStride)) // x + 20 y
	}
	for factor, want := range map[int][]uint8{
		1: {42, 43, 44, 45, 46, 47, 48, 62, 63, 64, 65, 66, 67, 68, 82, 83, 84, 85, 86, 87, 88, 102, 103, 104, 105, 106, 107, 108},
		2: {52, 54, 56, 92, 94, 96}, // 52.5 and so on, rounded down
		3: {63, 66},
	} {
		p := Shrink(frame, image.Rect(2, 2, 9, 6), factor)
		var got []uint8
		for y := range p.Height {
			got = append(got, p.Row(y)...)
		}
		if p.Width != 7/factor || p.Height != 4/factor || !slices.Equal(got, want) {
			t.Errorf("by %d: got %d × %d pixels %v, want %v", factor, p.Width, p.Height, got, want)
		}
	}
}

func TestBlur(t *testing.T) {
	for _, c := range []struct {
		x, y int // of the impulse
		want [][]uint8
	}{
		{2, 1, [][]uint8{{0, 10, 20, 10}, {0, 20, 40, 20}, {0, 10, 20, 10}, {0, 0, 0, 0}}},
		{0, 0, [][]uint8{{90, 30, 0, 0}, {30, 10, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}}},
		{3, 2, [][]uint8{{0, 0, 0, 0}, {0, 0, 10, 30}, {0, 0, 20, 60}, {0, 0, 10, 30}}},
	} {
		p := NewPlane[uint8](4, 4)
		p.Row(c.y)[c.x] = 160
		got := blur(p)
		for y, want := range c.want {
			if !slices.Equal(got.Row(y), want) {
				t.Errorf("an impulse at %d, %d: row %d: got %v, want %v", c.x, c.y, y, got.Row(y), want)
			}
		}
	}
	flat := NewPlane[uint8](5, 3)
	for i := range flat.Pix {
		flat.Pix[i] = 255
	}
	if got := blur(flat).Pix; !slices.Equal(got, flat.Pix) {
		t.Errorf("a white plane: got %v, want it as it was", got)
	}
}

func TestBoxBlur(t *testing.T) {
	scratch := make([]float32, 64)
	for _, c := range []struct {
		name          string
		across, along int
		want          []float32
	}{
		{"not at all", 0, 0, []float32{1, 2, 6, 4, 5, 9, 7, 8, 12}},
		{"across", 1, 0, []float32{1.5, 3, 4, 4.5, 6, 7, 7.5, 9, 10}},
		{"along", 0, 1, []float32{2.5, 3.5, 7.5, 4, 5, 9, 5.5, 6.5, 10.5}},
		{"both", 1, 1, []float32{3, 4.5, 5.5, 4.5, 6, 7, 6, 7.5, 8.5}},
		{"wider than the plane", 9, 9, []float32{6, 6, 6, 6, 6, 6, 6, 6, 6}},
	} {
		// 3 × 3 values in rows of 4.
		p := Plane[float32]{[]float32{1, 2, 6, -1, 4, 5, 9, -1, 7, 8, 12}, 3, 3, 4}
		BoxBlur(p, scratch, c.across, c.along)
		for i, want := range c.want {
			if got := p.At(i%3, i/3); distance(got, want) > 1e-5 {
				t.Errorf("%s, at %d, %d: got %g, want %g", c.name, i%3, i/3, got, want)
			}
		}
		if p.Pix[3] != -1 || p.Pix[7] != -1 {
			t.Errorf("%s: values beside the plane changed", c.name)
		}
	}
	// Away from its borders a plane keeps its sum.
	p, sum := NewPlane[float32](40, 30), float32(0)
	r := rand.New(rand.NewPCG(8, 9))
	for y := 8; y < 22; y++ {
		for x := 8; x < 32; x++ {
			p.Row(y)[x] = 100 * r.Float32()
			sum += p.At(x, y)
		}
	}
	BoxBlur(p, scratch, 4, 3)
	var after float32
	for _, v := range p.Pix {
		after += v
	}
	if distance(after, sum) > sum*1e-4 {
		t.Errorf("the sum: got %g, want %g as before", after, sum)
	}
}
