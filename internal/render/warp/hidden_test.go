package warp

import (
	"math"
	"testing"

	"lipsync/internal/render/engine"
	"lipsync/internal/test/facetest"
)

// TestHiddenExamples checks that no frame in which something hides the mouth is shown in another one.
func TestHiddenExamples(t *testing.T) {
	s := &scene{}
	s.draw(2, 100, func(i int) facetest.Head {
		return facetest.Head{X: 160, Y: 110, Eyes: 60, Open: .1 * (1 - math.Cos(float64(i)/3))}
	})
	hidden := func(frame int) bool { return frame >= 20 && frame < 50 }
	a := s.analyse(t)
	p, err := a.Plan(t.Context(), engine.Output{
		Frames: 100, Source: func(i int) int { return i }, Spoken: openIn(100, true, false, true, true), Speaker: func(int) int { return 2 },
		Hidden: func(track, source int) bool { return track == 2 && hidden(source) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if !a.order[0].speaks {
		t.Fatal("the head shows its own mouth in each frame, want examples")
	}
	for i, at := range p.(painter).all(t) {
		if e := a.order[0].bank.examples[at.example]; hidden(e.frame) {
			t.Errorf("frame %d shows the mouth of frame %d, which is hidden", i, e.frame)
		}
	}
}
