package warp

import (
	"image"
	"math"
	"testing"

	"lipsync/internal/render/engine"
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
			plane[i] = uint8(math.Round(128 + (float64(v)-128)*chroma))
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
			"fade to black": {func(v float64) float64 { return 16 + (v-16)*.3 }, .3},
			"fade to white": {func(v float64) float64 { return v + (235-v)*.6 }, .4},
			"exposure":      {func(v float64) float64 { return 16 + (v-16)*.6 }, .6},
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

// TestHiddenThroughout checks that a mouth is painted as usual if something is in front of it in all frames, so that there are no examples.
func TestHiddenThroughout(t *testing.T) {
	s := &scene{}
	s.draw(0, 30, atRest)
	said := openIn(30, true, true, true)
	_, want := s.plan(t, said)
	a := s.analyse(t)
	hidden, err := a.Plan(t.Context(), engine.Output{
		Frames: len(s.frames), Source: func(i int) int { return i }, Spoken: said, Speaker: func(int) int { return 0 }, Hidden: func(_, _ int) bool { return true },
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(a.order[0].bank.examples); n > 0 {
		t.Fatalf("%d examples, want none", n)
	}
	for _, i := range []int{10, 20} {
		x, y := atRest(i).At(0, 1.2)
		area := pixels.Even(image.Rect(int(x)-40, int(y)-30, int(x)+40, int(y)+30))
		luma, chroma := differences(s.show(t, hidden, i), s.show(t, want, i), area)
		if luma > 3 || chroma > 1.5 {
			t.Errorf("frame %d: luma differs by %.1f levels, chroma by %.1f", i, luma, chroma)
		}
	}
}
