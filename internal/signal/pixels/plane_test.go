package pixels

import "testing"

// TestCatmullRom reads ramps and a step between their pixels.
func TestCatmullRom(t *testing.T) {
	ramp, step := NewPlane[float32](12, 10), NewPlane[uint8](12, 10)
	for y := range ramp.Height {
		for x := range ramp.Width {
			ramp.Row(y)[x] = 3*float32(x) - 2*float32(y) + 40
			if x >= 6 {
				step.Row(y)[x] = 200
			}
		}
	}
	for y := float32(0); y <= 9; y += .13 {
		for x := float32(0); x <= 11; x += .17 {
			if got, want := ramp.CatmullRom(x, y), 3*x-2*y+40; distance(got, want) > 1e-4 {
				t.Fatalf("a ramp at %g, %g: got %g, want %g", x, y, got, want)
			}
		}
	}
	for x := 1; x < 10; x++ {
		if got, want := step.CatmullRom(float32(x), 4), float32(step.At(x, 4)); got != want {
			t.Errorf("the step's pixel %d: got %g, want %g", x, got, want)
		}
	}
	// Between 0, 0, 200, 200 the spline is 200 (.5 f + 1.5 f² − f³).
	for f, want := range map[float32]float32{.25: 40.625, .5: 100, .75: 159.375} {
		if got := step.CatmullRom(5+f, 4.5); distance(got, want) > 1e-3 {
			t.Errorf("the step at 5 + %g: got %g, want %g", f, got, want)
		}
	}
	before, after := float32(5.4), float32(5.6)
	if got, soft := step.CatmullRom(after, 4)-step.CatmullRom(before, 4), step.Bilinear(after, 4)-step.Bilinear(before, 4); got < 1.15*soft {
		t.Errorf("the step's slope: got %g, want it steeper than Bilinear's %g", got, soft)
	}
	if got := step.CatmullRom(6.4, 4); got <= 200 {
		t.Errorf("beside the step: got %g, want more than its pixels have", got)
	}
	for _, x := range []float32{-7, -.5, .5, 10.5, 30} {
		if got, want := ramp.CatmullRom(x, 4.3), ramp.Bilinear(x, 4.3); got != want {
			t.Errorf("near or beyond the border, at %g: got %g, want Bilinear's %g", x, got, want)
		}
	}
}
