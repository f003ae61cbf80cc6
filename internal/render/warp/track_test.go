package warp

import (
	"testing"

	"lipsync/internal/render/warp/mouth"
	"lipsync/internal/test/check"
)

// TestLastFrames checks that all frames of a shot are painted, even the last ones if they have no pixels of
// the face. Fast videos have such frames, since the tracker leaves out some frames.
func TestLastFrames(t *testing.T) {
	s := &scene{}
	s.draw(0, 30, atRest)
	a := newAnalyser(fps, check.Scratch(t))
	aligned := s.align()
	for i := range aligned {
		if i >= 28 {
			aligned[i].Faces[0].Crop = nil
		}
		if err := a.Add(aligned[i]); err != nil {
			t.Fatal(err)
		}
	}
	_, p := s.planOf(t, a, openIn(30, true, true, true))
	targets := p.all(t)
	for i, target := range targets {
		if target.track == nil {
			t.Errorf("frame %d is not painted", i)
		}
	}
	if got, want := targets[29].frame, 29; got != want {
		t.Errorf("the last frame shows frame %d, want %d", got, want)
	}
}

// TestWidthAtRest measures shots that begin with a rounded mouth, and one in which a hand is read as a mouth. Neither changes the width at
// rest of the rest of the shot.
func TestWidthAtRest(t *testing.T) {
	for _, c := range []struct {
		name     string
		frames   int
		from, to int // frames with a mouth that is 20 % narrower
		hidden   bool
		most     float32 // share of the width by which the middle may be off
	}{
		{"a second", 25, 0, 1, false, .02},
		{"ten seconds", 250, 0, 1, false, .001},
		{"a hand", 100, 40, 60, true, .001},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := talkingTrack(t, c.frames)
			var usual float32
			for i := range c.frames {
				tr.change(t, i, func(o *mouth.Observation) {
					o.Lips = someLips(.1)
					usual = o.Width()
					if i >= c.from && i < c.to {
						o.Left.X += .2 * usual
					}
				})
			}
			tr.person.speaks = true
			if c.hidden {
				tr.person.hidden = func(_, frame int) bool { return frame-tr.first >= c.from && frame-tr.first < c.to }
			}
			if err := tr.measureExpression(fps); err != nil {
				t.Fatal(err)
			}
			if got := tr.widths[c.frames/2]; abs(got-usual) > c.most*usual {
				t.Errorf("width %.3f in the middle, want %.3f", got, usual)
			}
		})
	}
}
