package warp

import (
	"image"
	"math"
	"testing"

	"lipsync/internal/signal/pixels"
	"lipsync/internal/test/facetest"
)

// lit returns a frame in another light.
func lit(f *image.YCbCr, luma func(v float64) float64, chroma float64) *image.YCbCr {
	out := pixels.Copy(f, f.Rect)
	for i, v := range out.Y {
		out.Y[i] = uint8(math.Round(min(max(luma(float64(v)), 0), 255)))
	}
	for _, plane := range [][]uint8{out.Cb, out.Cr} {
		for i, v := range plane {
			plane[i] = uint8(math.Round(grey + (float64(v)-grey)*chroma))
		}
	}
	return out
}

// TestPaintsInTheLightOfTheFrame checks that a mouth that is painted on a frame in another light looks as if the light had changed afterwards.
func TestPaintsInTheLightOfTheFrame(t *testing.T) {
	for name, head := range map[string]func(int) facetest.Head{"own mouth": atRest, "mouth of another frame": talking} {
		for change, c := range map[string]struct {
			luma   func(v float64) float64
			chroma float64
		}{
			"fade to black": {func(v float64) float64 { return black + (v-black)*.3 }, .3},
			"fade to white": {func(v float64) float64 { return v + (235-v)*.6 }, .4},
			"exposure":      {func(v float64) float64 { return black + (v-black)*.6 }, .6},
			"flash":         {func(v float64) float64 { return v + 45 }, 1},
		} {
			t.Run(name+"/"+change, func(t *testing.T) {
				t.Parallel()
				const frames, from, to = 60, 40, 50
				said := openIn(frames, false, true, false, true, true)
				usual, changed := &scene{}, &scene{}
				usual.draw(0, frames, head)
				changed.draw(0, frames, head)
				for i := from; i < to; i++ {
					changed.frames[i] = lit(changed.frames[i], c.luma, c.chroma)
				}
				_, want := usual.plan(t, said)
				_, got := changed.plan(t, said)
				for i := from + 1; i < to-1; i++ {
					x, y := head(i).At(0, 1.2)
					area := pixels.Even(image.Rect(int(x)-40, int(y)-30, int(x)+40, int(y)+30))
					luma, chroma := differences(changed.show(t, got, i), lit(usual.show(t, want, i), c.luma, c.chroma), area)
					if luma > 3 || chroma > 1.5 {
						t.Errorf("frame %d: luma differs by %.1f levels, chroma by %.1f", i, luma, chroma)
					}
				}
			})
		}
	}
}

// differences returns the mean differences of luma and of chroma of two frames in an area.
func differences(a, b *image.YCbCr, area image.Rectangle) (luma, chroma float64) {
	mean := func(a, b []uint8) (sum float64) {
		for i := range a {
			sum += math.Abs(float64(a[i])-float64(b[i])) / float64(len(a))
		}
		return sum
	}
	a, b = pixels.Copy(a, area), pixels.Copy(b, area)
	return mean(a.Y, b.Y), (mean(a.Cb, b.Cb) + mean(a.Cr, b.Cr)) / 2
}

// TestLeavesUsualLightAlone checks that small differences of light are no relighting, so that pictures stay bit by bit.
func TestLeavesUsualLightAlone(t *testing.T) {
	from := light{luma: 120, contrast: 20, blue: -10, red: 20}
	for _, to := range []light{from, {luma: 130, contrast: 25, blue: -12, red: 18}, {luma: 108, contrast: 15, blue: -8, red: 25}} {
		if got := relightingOf(from, to); got != (relighting{1, 0, 1}) {
			t.Errorf("to %v: got %v", to, got)
		}
	}
	for _, unlike := range []light{{}, {luma: 255}, {luma: 16, contrast: 100, blue: 127, red: -127}} {
		for _, r := range []relighting{relightingOf(from, unlike), relightingOf(unlike, from)} {
			if v := r.luma(r.lumaBefore(90)); !(math.Abs(float64(v)-90) < .1) {
				t.Errorf("%v: 90 becomes %v", r, v)
			}
		}
	}
}
