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

// TestRelights checks which lights count as another light, and that what is relit stays a possible picture of a face.
func TestRelights(t *testing.T) {
	usual := light{luma: 120, cheeks: 130, contrast: 20, blue: -10, red: 20}
	same := relighting{1, 0, 1}
	for name, c := range map[string]struct {
		to      light
		changes bool
	}{
		"the same":              {usual, false},
		"a little brighter":     {light{luma: 130, cheeks: 140, contrast: 25, blue: -12, red: 18}, false},
		"a little darker":       {light{luma: 108, cheeks: 116, contrast: 15, blue: -8, red: 25}, false},
		"darker":                {light{luma: 60, cheeks: 65, contrast: 9, blue: -5, red: 9}, true},
		"brighter":              {light{luma: 190, cheeks: 196, contrast: 12, blue: -5, red: 9}, true},
		"black":                 {light{luma: 16, cheeks: 16}, true},
		"white":                 {light{luma: 235, cheeks: 235}, true},
		"a hat's shadow":        {light{luma: 60, cheeks: 130, contrast: 9, blue: -5, red: 9}, false},
		"a hand on the cheeks":  {light{luma: 120, cheeks: 60, contrast: 20, blue: -10, red: 20}, false},
		"glasses that mirror":   {light{luma: 180, cheeks: 131, contrast: 50, blue: -5, red: 9}, false},
		"shadow above, sun low": {light{luma: 60, cheeks: 220, contrast: 9, blue: -5, red: 9}, false},
	} {
		r := relightingOf(usual, c.to)
		if (r != same) != c.changes {
			t.Errorf("%s: got %v, changes: want %t", name, r, c.changes)
		}
		for _, v := range []float32{usual.luma - 2*usual.contrast, usual.luma, usual.luma + 2*usual.contrast} {
			if got := r.luma(v); got < 16-1 || got > 235+1 {
				t.Errorf("%s: luma %v becomes %v", name, v, got)
			}
		}
		if got := r.luma(r.lumaBefore(90)); !(abs(got-90) < .1) {
			t.Errorf("%s: 90 becomes %v and back %v", name, r.lumaBefore(90), got)
		}
	}
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
