package mouth

import (
	"image"
	"testing"

	"lipsync/internal/signal/geom"
)

// TestTonesLeaveLipsOut puts a closed mouth on a frame whose lower lip is at the edge of the patch.
// The colour of that lip must not count as the tone of the face.
func TestTonesLeaveLipsOut(t *testing.T) {
	skin := func() *image.YCbCr {
		f := image.NewYCbCr(image.Rect(0, 0, 240, 280), image.YCbCrSubsampleRatio420)
		for i := range f.Y {
			f.Y[i] = skinColour[0]
		}
		for i := range f.Cr {
			f.Cb[i], f.Cr[i] = grey, skinColour[1]
		}
		return f
	}
	p := &Person{Line: 1.57}
	own, m := Observation{Lips: someLips(.3)}, someLips(0)
	to := geom.Similarity{A: canonicalPixels}
	s := Shape{Width: m.Width(), Upper: 1, Lower: 1}
	l := &layer{frame: skin(), pixels: skin(), onto: to, to: to, field: wholeField(&m, s), under: wholeField(&own.Lips, s), patch: newPatch(p, &own, s)}
	for y := 185; y < 205; y++ {
		for x := 90; x < 150; x++ {
			l.frame.Cr[l.frame.COffset(x, y)] = lipColour[1]
		}
	}
	if got := l.match().at(geom.Point{X: m.Middle(), Y: 1.7})[2]; abs(got) > 1.5 {
		t.Errorf("the mouth becomes redder by %.1f levels, want 0", got)
	}
	for i := range l.frame.Cr { // another light
		l.frame.Cr[i] += 5
	}
	if got := l.match().at(geom.Point{X: m.Middle(), Y: 1.7})[2]; abs(got-5) > 1.5 {
		t.Errorf("in another light the mouth becomes redder by %.1f levels, want 5", got)
	}
}
