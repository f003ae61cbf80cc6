package warp

import "testing"

// TestLastFrames paints all frames of a shot whose last frames have no pixels of
// the face: the tracker leaves some out of fast videos.
func TestLastFrames(t *testing.T) {
	s := &scene{}
	s.shoot(0, 30, atRest)
	a := newAnalyser(fps)
	aligned := s.align()
	for i := range aligned {
		if i >= 28 {
			aligned[i].Faces[0].Crop = nil
		}
		if err := a.Add(aligned[i]); err != nil {
			t.Fatal(err)
		}
	}
	_, p := s.planOf(t, a, say(30, true, true, true))
	for i, target := range p {
		if target.track == nil {
			t.Errorf("frame %d is not painted", i)
		}
	}
	if got, want := p[29].frame, 29; got != want {
		t.Errorf("the last frame shows frame %d, want %d", got, want)
	}
}
