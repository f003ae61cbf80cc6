package warp

import (
	"image"
	"testing"

	"lipsync/internal/signal/pixels"
	"lipsync/internal/test/facetest"
)

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
					soft.frames[i] = facetest.Blurred(soft.frames[i], sigma[0], sigma[1])
				}
				_, want := sharp.plan(t, said)
				_, got := soft.plan(t, said)
				for i := from + 1; i < to-1; i++ {
					h := head(i)
					x, y := h.At(0, 1.2)
					area := pixels.Even(image.Rect(int(x)-40, int(y)-30, int(x)+40, int(y)+30))
					want := sharpness(pixels.Copy(facetest.Blurred(sharp.show(t, want, i), sigma[0], sigma[1]), area))
					if got := sharpness(pixels.Copy(soft.show(t, got, i), area)); got > 1.4*want || got < want/1.4 {
						t.Errorf("frame %d: neighbouring pixels differ by %.2f levels, want %.2f", i, got, want)
					}
				}
			})
		}
	}
}
