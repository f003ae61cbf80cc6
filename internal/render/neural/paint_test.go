package neural

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"lipsync/internal/signal/pixels"
	"lipsync/internal/test/facetest"
	"lipsync/internal/test/neuraltest"
)

// TestIdentity checks that a network that returns its input leaves the frame as it was, at all sizes of networks and faces.
func TestIdentity(t *testing.T) {
	for _, size := range []int{96, 128, 256, 384} {
		for _, eyes := range []float64{14, 60, 200} {
			e := newTestEngine(t, size, 4, neuraltest.AsItIs)
			a, drawn := neuraltest.Draw(t, e, 25, 900, 800, 3, func(int) facetest.Head {
				return facetest.Head{X: 450, Y: 300, Eyes: eyes, Turn: .1}
			})
			p := neuraltest.Plan(t, a, 25, 3)
			for i, f := range drawn {
				m := neuraltest.Mouth(t, p, i, f)
				if got := neuraltest.PSNR(f, m); got < 45 {
					t.Errorf("%d pixels, eyes %g apart: %.1f dB, want at least 45", size, eyes, got)
				}
				m.Release()
			}
		}
	}
}

// TestColourMatch checks that the mouths of a network that tints faces have the frame's colours.
func TestColourMatch(t *testing.T) {
	tint := func(face, _, out []float32) {
		n := len(out) / 3
		for i := range out {
			out[i] = .05 + []float32{.6, .75, .7}[i/n]*face[len(out)+i]
		}
	}
	a, drawn := neuraltest.Draw(t, newTestEngine(t, 96, 1, tint), 25, 320, 300, 2, neuraltest.Still)
	p := neuraltest.Plan(t, a, 25, 2)
	m := neuraltest.Mouth(t, p, 1, drawn[1])
	if got := neuraltest.PSNR(drawn[1], m); got < 35 {
		t.Errorf("%.1f dB, want at least 35", got)
	}
}

// TestMask checks that mouth and chin are painted, and neither eyes nor nose, and that the frame itself isn't changed.
func TestMask(t *testing.T) {
	grey := func(_, _, out []float32) {
		for i := range out {
			out[i] = .5
		}
	}
	a, drawn := neuraltest.Draw(t, newTestEngine(t, 96, 1, grey), 25, 320, 300, 2, neuraltest.Still)
	p := neuraltest.Plan(t, a, 25, 2)
	luma, cb := bytes.Clone(drawn[1].Y), bytes.Clone(drawn[1].Cb)
	m := neuraltest.Mouth(t, p, 1, drawn[1])
	if !bytes.Equal(luma, drawn[1].Y) || !bytes.Equal(cb, drawn[1].Cb) {
		t.Error("the frame was changed")
	}
	if r := m.Mask.Rect; r != m.Image.Rect || r != pixels.Even(r) {
		t.Errorf("mask %v, picture %v: want the same, even", r, m.Image.Rect)
	}
	h := neuraltest.Still(1)
	for _, c := range []struct {
		name string
		u, v float64
		want uint8
	}{
		{name: "mouth", u: 0, v: facetest.Lips, want: 255}, {name: "corner of the mouth", u: .45, v: facetest.Lips, want: 255},
		{name: "upper lip", u: 0, v: 1, want: 255}, {name: "pupil", u: -.5, v: 0, want: 0}, {name: "tip of the nose", u: 0, v: .5, want: 0},
		{name: "ear", u: 1.1, v: .6, want: 0}, {name: "neck", u: 0, v: 2.1, want: 0},
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
		e := newTestEngine(t, 96, 1, neuraltest.AsItIs)
		a, drawn := neuraltest.Draw(t, e, 25, 320, 300, 2, func(int) facetest.Head {
			return facetest.Head{X: at[0], Y: at[1], Eyes: 60}
		})
		p := neuraltest.Plan(t, a, 25, 2)
		mouths, err := p.Paint(t.Context(), 1, drawn[1])
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range mouths {
			if !m.Mask.Rect.In(drawn[1].Rect) {
				t.Errorf("head at %v: the mask %v is outside the frame", at, m.Mask.Rect)
			}
			if got := neuraltest.PSNR(drawn[1], m); got < 40 {
				t.Errorf("head at %v: %.1f dB", at, got)
			}
		}
	}
}

// TestNoNumbers checks that infinity and NaN are errors, and that values beyond 0 to 1 are cut off.
func TestNoNumbers(t *testing.T) {
	for _, c := range []struct {
		name string
		x    float64
		want error
	}{
		{"not a number", math.NaN(), ErrNoNumber}, {"infinite", math.Inf(1), ErrNoNumber}, {"less", math.Inf(-1), ErrNoNumber},
		{"huge", 1e30, nil}, {"negative", -1e30, nil},
	} {
		e := newTestEngine(t, 96, 1, func(face, sound, out []float32) {
			neuraltest.AsItIs(face, sound, out)
			out[3*96*96/2] = float32(c.x)
		})
		a, drawn := neuraltest.Draw(t, e, 25, 320, 300, 2, neuraltest.Still)
		p := neuraltest.Plan(t, a, 25, 2)
		mouths, err := p.Paint(t.Context(), 1, drawn[1])
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		for _, m := range mouths {
			if got := neuraltest.PSNR(drawn[1], m); got < 30 {
				t.Errorf("%s: %.1f dB, want at least 30", c.name, got)
			}
		}
		if len(e.free) != 1-len(mouths) {
			t.Errorf("%s: the buffers are not free", c.name)
		}
	}
}

// TestNoGarbage checks that painting allocates no memory.
func TestNoGarbage(t *testing.T) {
	a, drawn := neuraltest.Draw(t, newTestEngine(t, 96, 1, neuraltest.AsItIs), 25, 320, 300, 2, neuraltest.Still)
	p := neuraltest.Plan(t, a, 25, 2)
	made := testing.AllocsPerRun(50, func() { neuraltest.Mouth(t, p, 1, drawn[1]).Release() })
	if made >= 1 {
		t.Errorf("%g allocations a frame, want none", made)
	}
}
