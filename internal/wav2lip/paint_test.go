package wav2lip

import (
	"image"
	"math"
	"testing"

	"lipsync/internal/facetest"
	"lipsync/internal/pixels"
	"lipsync/internal/render"
)

// mouth has a painter paint one frame.
func mouth(t testing.TB, p render.Painter, output int, frame *image.YCbCr) render.Mouth {
	t.Helper()
	mouths, err := p.Paint(t.Context(), output, frame)
	if err != nil {
		t.Fatal(err)
	}
	if len(mouths) != 1 {
		t.Fatalf("%d mouths, want 1", len(mouths))
	}
	return mouths[0]
}

// psnr compares the luma under a mouth's mask with the frame's, in dB.
func psnr(frame *image.YCbCr, m render.Mouth) float64 {
	var sum, n float64
	for y := m.Mask.Rect.Min.Y; y < m.Mask.Rect.Max.Y; y++ {
		for x := m.Mask.Rect.Min.X; x < m.Mask.Rect.Max.X; x++ {
			if m.Mask.AlphaAt(x, y).A == 0 {
				continue
			}
			d := float64(m.Image.Y[m.Image.YOffset(x, y)]) - float64(frame.Y[frame.YOffset(x, y)])
			sum += d * d
			n++
		}
	}
	return 10 * math.Log10(255*255/(sum/n+1e-9))
}

// TestIdentity checks that a network that paints what is there leaves the frame
// as it was, at every size of network and face.
func TestIdentity(t *testing.T) {
	for _, size := range []int{96, 128, 256, 384} {
		for _, eyes := range []float64{14, 60, 200} {
			e := newTestEngine(t, size, 4, asItIs)
			a, film := shoot(t, e, 25, 900, 800, 3, func(int) facetest.Head {
				return facetest.Head{X: 450, Y: 300, Eyes: eyes, Turn: .1}
			})
			p := plan(t, a, 25, 3)
			for i, f := range film {
				m := mouth(t, p, i, f)
				if got := psnr(f, m); got < 45 {
					t.Errorf("%d pixels, eyes %g apart: %.1f dB, want at least 45", size, eyes, got)
				}
				m.Release()
			}
		}
	}
}

// TestColourMatch checks that a network with a cast of its own gives back the
// frame's colours.
func TestColourMatch(t *testing.T) {
	cast := func(face, _, out []float32) {
		n := len(out) / 3
		for i := range out {
			out[i] = .05 + []float32{.6, .75, .7}[i/n]*face[len(out)+i]
		}
	}
	a, film := shoot(t, newTestEngine(t, 96, 1, cast), 25, 320, 300, 2, still)
	p := plan(t, a, 25, 2)
	m := mouth(t, p, 1, film[1])
	if got := psnr(film[1], m); got < 35 {
		t.Errorf("%.1f dB, want at least 35", got)
	}
}

// TestMask checks where a network can paint: the mouth and the chin, not the
// eyes nor the nose, and that the frame itself isn't touched.
func TestMask(t *testing.T) {
	grey := func(_, _, out []float32) {
		for i := range out {
			out[i] = .5
		}
	}
	a, film := shoot(t, newTestEngine(t, 96, 1, grey), 25, 320, 300, 2, still)
	p := plan(t, a, 25, 2)
	before := clone(film[1])
	m := mouth(t, p, 1, film[1])
	if string(before.Y) != string(film[1].Y) || string(before.Cb) != string(film[1].Cb) {
		t.Error("the frame was changed")
	}
	if r := m.Mask.Rect; r != m.Image.Rect || r != pixels.Even(r) {
		t.Errorf("mask %v, picture %v: want the same, even", r, m.Image.Rect)
	}
	h := still(1)
	for _, c := range []struct {
		name string
		u, v float64
		want uint8
	}{
		{"mouth", 0, facetest.Lips, 255}, {"corner of the mouth", .45, facetest.Lips, 255}, {"upper lip", 0, 1, 255},
		{"pupil", -.5, 0, 0}, {"tip of the nose", 0, .5, 0}, {"ear", 1.1, .6, 0}, {"neck", 0, 2.1, 0},
	} {
		x, y := h.At(c.u, c.v)
		if got := m.Mask.AlphaAt(int(x), int(y)).A; got != c.want {
			t.Errorf("%s: the mask is %d, want %d", c.name, got, c.want)
		}
	}
}

// TestAtTheEdge paints faces that are partly outside the frame.
func TestAtTheEdge(t *testing.T) {
	for _, at := range [][2]float64{{20, 120}, {300, 120}, {160, 260}, {160, 20}, {2, 290}} {
		e := newTestEngine(t, 96, 1, asItIs)
		a, film := shoot(t, e, 25, 320, 300, 2, func(int) facetest.Head {
			return facetest.Head{X: at[0], Y: at[1], Eyes: 60}
		})
		p := plan(t, a, 25, 2)
		mouths, err := p.Paint(t.Context(), 1, film[1])
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range mouths {
			if !m.Mask.Rect.In(film[1].Rect) {
				t.Errorf("head at %v: the mask %v is outside the frame", at, m.Mask.Rect)
			}
			if got := psnr(film[1], m); got < 40 {
				t.Errorf("head at %v: %.1f dB", at, got)
			}
		}
	}
}

// TestNoNumbers checks that one bad value isn't painted, and that values beyond
// 0 to 1 are held there.
func TestNoNumbers(t *testing.T) {
	for _, c := range []struct {
		name string
		x    float64
		want error
	}{
		{"not a number", math.NaN(), errNoNumber}, {"infinite", math.Inf(1), errNoNumber}, {"less", math.Inf(-1), errNoNumber},
		{"huge", 1e30, nil}, {"negative", -1e30, nil},
	} {
		e := newTestEngine(t, 96, 1, func(face, sound, out []float32) {
			asItIs(face, sound, out)
			out[3*96*96/2] = float32(c.x)
		})
		a, film := shoot(t, e, 25, 320, 300, 2, still)
		p := plan(t, a, 25, 2)
		mouths, err := p.Paint(t.Context(), 1, film[1])
		if err != c.want {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		for _, m := range mouths {
			if got := psnr(film[1], m); got < 30 {
				t.Errorf("%s: %.1f dB, want at least 30", c.name, got)
			}
		}
		if len(e.free) != 1-len(mouths) {
			t.Errorf("%s: the brush isn't free", c.name)
		}
	}
}

// TestNoGarbage checks that painting takes no new memory.
func TestNoGarbage(t *testing.T) {
	a, film := shoot(t, newTestEngine(t, 96, 1, asItIs), 25, 320, 300, 2, still)
	p := plan(t, a, 25, 2)
	made := testing.AllocsPerRun(50, func() { mouth(t, p, 1, film[1]).Release() })
	if made >= 1 {
		t.Errorf("%g allocations a frame, want none", made)
	}
}
