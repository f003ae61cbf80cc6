package warp

import (
	"fmt"
	"image"
	"math"
	"testing"

	"lipsync/internal/signal/dsp"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
	"lipsync/internal/test/facetest"
)

// filtered returns a frame after Gaussians along its rows and columns, with standard deviations in pixels.
func filtered(f *image.YCbCr, along, across float64) *image.YCbCr {
	out := pixels.Copy(f, f.Rect)
	blue, red := pixels.Chroma(out)
	for i, p := range []pixels.Plane[uint8]{pixels.Luma(out), blue, red} {
		along, across := along, across
		if i > 0 {
			along, across = along/2, across/2
		}
		line := make([]float32, max(p.Width, p.Height))
		filter := func(n, stride int, sigma float64, from []uint8) {
			for k := range n {
				line[k] = float32(from[k*stride])
			}
			for k, v := range dsp.Gaussian(line[:n], sigma) {
				from[k*stride] = uint8(math.Round(float64(v)))
			}
		}
		for y := range p.Height {
			filter(p.Width, 1, along, p.Pix[y*p.Stride:])
		}
		for x := range p.Width {
			filter(p.Height, p.Stride, across, p.Pix[x:])
		}
	}
	return out
}

// TestReadsBlur reads the blur of drawn heads, upright and turned, that are blurred by known Gaussians.
func TestReadsBlur(t *testing.T) {
	for _, turn := range []float64{0, math.Pi / 2} {
		for _, c := range []blur{{}, {.03, .03}, {.05, .05}, {.1, .1}, {.1, 0}, {0, .1}} {
			t.Run(fmt.Sprintf("%.1f/%.2f,%.2f", turn, c.along, c.across), func(t *testing.T) {
				h := facetest.Head{X: 160, Y: 150, Eyes: 60, Turn: turn}
				sin, cos := math.Sincos(turn)
				to := geom.Similarity{A: float32(h.Eyes * cos), B: float32(h.Eyes * sin)}
				x, y := h.At(-.7-.5, -.45)
				to.X, to.Y = float32(x), float32(y)
				columns, rows := float64(c.along)*h.Eyes, float64(c.across)*h.Eyes
				if turn != 0 {
					columns, rows = rows, columns
				}
				got := lookOf(filtered(facetest.Frame(width, height, h), columns, rows), to).blur
				for _, v := range [][2]float32{{got.along, c.along}, {got.across, c.across}} {
					if least, most := .6*v[1], 1.4*v[1]+blurUnseen; v[0] < least || v[0] > most {
						t.Errorf("got %v: %.3f isn't in [%.3f, %.3f]", got, v[0], least, most)
					}
				}
			})
		}
	}
	if got := lookOf(image.NewYCbCr(image.Rect(0, 0, width, height), image.YCbCrSubsampleRatio420), geom.Similarity{A: 60, X: 100, Y: 100}).blur; got != (blur{}) {
		t.Errorf("of a black picture: got %v", got)
	}
}

// TestPaintsAsBlurredAsTheFrame checks that a mouth that is painted on a blurred frame looks as if the frame had been blurred afterwards.
func TestPaintsAsBlurredAsTheFrame(t *testing.T) {
	for name, head := range map[string]func(int) facetest.Head{"own mouth": atRest, "mouth of another frame": talking} {
		for motion, sigma := range map[string][2]float64{"focus": {6, 6}, "motion": {0, 6}} {
			t.Run(name+"/"+motion, func(t *testing.T) {
				t.Parallel()
				const frames, from, to = 60, 40, 50
				said := openIn(frames, false, true, false, true, true)
				sharp, soft := &scene{}, &scene{}
				sharp.draw(0, frames, head)
				soft.draw(0, frames, head)
				for i := from; i < to; i++ {
					soft.frames[i] = filtered(soft.frames[i], sigma[0], sigma[1])
				}
				_, want := sharp.plan(t, said)
				_, got := soft.plan(t, said)
				for i := from + 1; i < to-1; i++ {
					h := head(i)
					x, y := h.At(0, 1.2)
					area := pixels.Even(image.Rect(int(x)-40, int(y)-30, int(x)+40, int(y)+30))
					want := sharpness(pixels.Copy(filtered(sharp.show(t, want, i), sigma[0], sigma[1]), area))
					if got := sharpness(pixels.Copy(soft.show(t, got, i), area)); got > 1.4*want || got < want/1.4 {
						t.Errorf("frame %d: neighbouring pixels differ by %.2f levels, want %.2f", i, got, want)
					}
				}
			})
		}
	}
}
