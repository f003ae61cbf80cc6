package neural

import (
	"bytes"
	"image"
	"math"
	"testing"

	"lipsync/internal/domain/order"
	"lipsync/internal/render/engine"
	"lipsync/internal/test/facetest"
	"lipsync/internal/test/neuraltest"
)

// painted returns the mouth that a network paints on the still head, by a mask.
func painted(t *testing.T, e *Engine, frame *image.YCbCr, a engine.Analyser, m order.Mask) engine.Mouth {
	t.Helper()
	p, err := a.Plan(t.Context(), engine.Output{
		Frames: 2, Source: func(output int) int { return output }, Speaker: func(int) int { return 7 }, Samples: neuraltest.PCM(neuraltest.Tone(1280)), Mask: m,
	})
	if err != nil {
		t.Fatal(err)
	}
	return neuraltest.Mouth(t, p, 1, frame)
}

// TestMaskSizes checks how far from the mouth pixels change, and how many are half transparent.
func TestMaskSizes(t *testing.T) {
	stripes := func(_, _, out []float32) { // on every place something that the frame doesn't show
		for i := range out {
			out[i] = float32(i / 2 % 2)
		}
	}
	type size struct{ wide, above, below, soft float64 }
	sizes := map[order.Mask]size{}
	for _, side := range []int{96, 256} {
		e := newTestEngine(t, side, 1, stripes)
		a, drawn := neuraltest.Draw(t, e, 25, 320, 300, 2, neuraltest.Still)
		h := neuraltest.Still(1)
		for _, m := range []order.Mask{
			{}, {Expand: -150}, {Expand: 250}, {Feather: -750}, {Feather: 1000},
			{Feather: -750, Expand: -150}, {Feather: 1000, Expand: -150}, {Feather: -750, Expand: 250}, {Feather: 1000, Expand: 250},
		} {
			got := painted(t, e, drawn[1], a, m)
			alpha := func(u, v float64) float64 {
				x, y := h.At(u, v)
				return float64(got.Mask.AlphaAt(int(x+.5), int(y+.5)).A) / 255
			}
			var s size
			var some, all float64
			for v := -.6; v < 2.2; v += .01 {
				for u := -1.4; u < 1.4; u += .01 {
					here := alpha(u, v)
					x, y := h.At(u, v)
					k, i := got.Image.YOffset(int(x+.5), int(y+.5)), drawn[1].YOffset(int(x+.5), int(y+.5))
					if here > .05 && got.Image.Y[k] != drawn[1].Y[i] {
						s.wide, s.above, s.below = max(s.wide, math.Abs(u)), max(s.above, facetest.Lips-v), max(s.below, v-facetest.Lips)
					}
					if here > 0 {
						all++
					}
					if here > 0 && here < 1 {
						some++
					}
					if x, y := h.At(u+1/h.Eyes, v); math.Abs(here-float64(got.Mask.AlphaAt(int(x+.5), int(y+.5)).A)/255) > .55 {
						t.Errorf("%d pixels, %v: a hard edge at (%.2f, %.2f)", side, m, u, v)
					}
				}
			}
			s.soft = some / all
			sizes[m] = s
			if s.wide > .95 || s.below > tall.Bottom-.45-facetest.Lips {
				t.Errorf("%d pixels, %v: it reaches %.2f aside and %.2f down, beyond the crop", side, m, s.wide, s.below)
			}
			usual := sizes[order.Mask{}]
			if large := m.Expand > 0 && m.Feather >= 0; large && !(s.wide > 1.08*usual.wide && s.above > 1.2*usual.above) ||
				m == (order.Mask{Expand: -150}) && !(s.wide < .9*usual.wide && s.above < .9*usual.above && s.below < .95*usual.below) {
				t.Errorf("%d pixels, %v: it reaches %.2f aside, %.2f up and %.2f down, usually %.2f, %.2f and %.2f", side, m, s.wide, s.above, s.below, usual.wide, usual.above, usual.below)
			}
			if m == (order.Mask{Feather: -750}) && !(s.soft < .5*usual.soft) || m == (order.Mask{Feather: 1000}) && !(s.soft > 1.2*usual.soft) {
				t.Errorf("%d pixels, %v: %.2f is soft, usually %.2f", side, m, s.soft, usual.soft)
			}
			for _, at := range [][2]float64{{-.44, 1.11}, {.44, 1.11}, {0, 1}, {0, 1.28 + .2}, {.3, 1.05}, {-.3, 1.4}} {
				if got := alpha(at[0], at[1]); got < .95 {
					t.Errorf("%d pixels, %v: the mouth at %v is hidden by %.2f", side, m, at, got)
				}
			}
			got.Release()
		}
	}
}

// TestMasksOfJobs paints by the mask of one job and then by that of another, with the same buffers.
func TestMasksOfJobs(t *testing.T) {
	e := newTestEngine(t, 96, 1, neuraltest.AsItIs)
	a, drawn := neuraltest.Draw(t, e, 25, 320, 300, 2, neuraltest.Still)
	first := painted(t, e, drawn[1], a, order.Mask{})
	pixels, mask := bytes.Clone(first.Image.Y), bytes.Clone(first.Mask.Pix)
	first.Release()
	painted(t, e, drawn[1], a, order.Mask{Feather: -500, Expand: 200}).Release()
	again := painted(t, e, drawn[1], a, order.Mask{})
	if !bytes.Equal(again.Mask.Pix, mask) {
		t.Error("the mask of another job stays")
	}
	for i, a := range mask {
		if a > 0 && again.Image.Y[i] != pixels[i] {
			t.Fatal("the mask of another job changes the mouth")
		}
	}
}

// TestMaskIsHidden checks that no mask reaches into the half of the view that isn't hidden.
func TestMaskIsHidden(t *testing.T) {
	low := View{Left: .12, Top: -.2, Right: 2.28, Bottom: 2.3, Size: 96}
	for _, v := range []View{{Left: tall.Left, Top: tall.Top, Right: tall.Right, Bottom: tall.Bottom, Size: 96}, low} {
		for _, o := range []order.Mask{{}, {Expand: 250}, {Expand: 250, Feather: -750}, {Expand: 250, Feather: 1000}} {
			m := newMask(v, o)
			for i, opacity := range m.opacity[:v.Size/2*v.Size] {
				if opacity > 0 {
					t.Fatalf("%v, %v: row %d has an opacity of %g", v, o, i/v.Size, opacity)
				}
			}
		}
	}
}
