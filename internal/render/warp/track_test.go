package warp

import (
	"testing"

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
