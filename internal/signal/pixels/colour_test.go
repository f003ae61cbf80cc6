package pixels

import (
	"math/rand/v2"
	"testing"
)

func TestColoursComeBack(t *testing.T) {
	for y := float32(16); y <= 235; y += 7 {
		for cb := float32(100); cb <= 150; cb += 5 {
			for cr := float32(100); cr <= 150; cr += 5 {
				r, g, b := ToRGB(y, cb, cr)
				if min(b, g, r) == 0 || max(b, g, r) == 1 {
					continue // out of what RGB can show
				}
				if y2, cb2, cr2 := FromRGB(r, g, b); max(distance(y, y2), distance(cb, cb2), distance(cr, cr2)) > .01 {
					t.Fatalf("%g %g %g came back as %g %g %g", y, cb, cr, y2, cb2, cr2)
				}
			}
		}
	}
}

// TestRGBComesBack converts colours from RGB and back. All are in range.
func TestRGBComesBack(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 1000 {
		r, g, b := random.Float32(), random.Float32(), random.Float32()
		if r2, g2, b2 := ToRGB(FromRGB(r, g, b)); max(distance(r, r2), distance(g, g2), distance(b, b2)) > 1e-4 {
			t.Fatalf("%g %g %g came back as %g %g %g", r, g, b, r2, g2, b2)
		}
	}
}

// TestPrimaries compares with the values that BT.601 has in limited range.
func TestPrimaries(t *testing.T) {
	for name, c := range map[string]struct{ rgb, want [3]float32 }{
		"black":   {[3]float32{}, [3]float32{16, 128, 128}},
		"white":   {[3]float32{1, 1, 1}, [3]float32{235, 128, 128}},
		"red":     {[3]float32{1, 0, 0}, [3]float32{81.48, 90.20, 240}},
		"green":   {[3]float32{0, 1, 0}, [3]float32{144.55, 53.80, 34.21}},
		"blue":    {[3]float32{0, 0, 1}, [3]float32{40.97, 240, 109.79}},
		"cyan":    {[3]float32{0, 1, 1}, [3]float32{169.52, 165.80, 16}},
		"magenta": {[3]float32{1, 0, 1}, [3]float32{106.45, 202.20, 221.79}},
		"yellow":  {[3]float32{1, 1, 0}, [3]float32{210.03, 16, 146.21}},
	} {
		y, cb, cr := FromRGB(c.rgb[0], c.rgb[1], c.rgb[2])
		if max(distance(y, c.want[0]), distance(cb, c.want[1]), distance(cr, c.want[2])) > .01 {
			t.Errorf("%s: got %.2f %.2f %.2f, want %v", name, y, cb, cr, c.want)
		}
		r, g, b := ToRGB(c.want[0], c.want[1], c.want[2])
		if max(distance(r, c.rgb[0]), distance(g, c.rgb[1]), distance(b, c.rgb[2])) > 1e-3 {
			t.Errorf("%s back: got %g %g %g, want %v", name, r, g, b, c.rgb)
		}
	}
	if r, g, b := ToRGB(255, 255, 0); r < 0 || r > 1 || g != 1 || b != 1 {
		t.Errorf("out of range: got %g %g %g, want values from 0 to 1", r, g, b)
	}
}
