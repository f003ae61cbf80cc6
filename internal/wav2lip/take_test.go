package wav2lip

import (
	"math"
	"slices"
	"testing"

	"lipsync/internal/face"
	"lipsync/internal/face/facetest"
	"lipsync/internal/render"
)

// swaying is a head that moves, turns and grows.
func swaying(i int) facetest.Head {
	s, c := math.Sincos(float64(i) / 40)
	return facetest.Head{X: 160 + 20*s, Y: 120 + 8*c, Eyes: 50 + 4*s, Turn: .1 * c}
}

// TestTakes follows one face through several blocks of frames, in some of which
// it is missed, and in others gone.
func TestTakes(t *testing.T) {
	within := func(i int, ranges ...int) bool { // from the first of each two to before the second
		k, _ := slices.BinarySearch(ranges, i+1)
		return k%2 == 1
	}
	missed := func(i int) bool { return within(i, 10, 13, 50, 54, 94, 98, 150, 151) }
	gone := func(i int) bool { return within(i, 70, 75, 130, 140, 200, 260) }
	const frames = 330
	e := newTestEngine(t, 96, 4, asItIs)
	begun, err := e.Begin(render.Video{Width: 320, Height: 300, FPS: 25})
	if err != nil {
		t.Fatal(err)
	}
	s := begun.(*session)
	for i := range frames {
		h, faces := swaying(i), []face.Face(nil)
		if !missed(i) && !gone(i) {
			faces = []face.Face{{Track: 7, Points: landmarks(h)}}
		}
		if err := s.Observe(i, facetest.Frame(320, 300, h), faces); err != nil {
			t.Fatal(err)
		}
		if n := len(s.takes[7].pending.Samples); n > face.BlockFrames+face.Context {
			t.Fatalf("frame %d: %d frames pend, want at most %d", i, n, face.BlockFrames+face.Context)
		}
	}
	plan(t, s, 25, frames)
	for i := range frames {
		onto, ok := s.takes[7].at(i)
		if ok == gone(i) {
			t.Fatalf("frame %d: the face is there: %t, want %t", i, ok, !gone(i))
		}
		if !ok {
			continue
		}
		h := swaying(i)
		x, y := h.At(0, facetest.Lips)
		got := onto.Apply(face.Point{X: 1.2, Y: .45 + facetest.Lips})
		if d := face.Distance(got, face.Point{X: float32(x), Y: float32(y)}); d > 1.6 { // beside a gap they are smoothed across it
			t.Errorf("frame %d: the lips are %.2f pixels off", i, d)
		}
	}
	f := facetest.Frame(320, 300, swaying(135))
	if mouths, err := s.Mouths(t.Context(), 135, f); err != nil || len(mouths) != 0 {
		t.Errorf("a frame without the face: %d mouths, %v, want none", len(mouths), err)
	}
}

// TestNobodySpeaks checks frames in which no one, or someone unknown, speaks.
func TestNobodySpeaks(t *testing.T) {
	e := newTestEngine(t, 96, 1, asItIs)
	s, film := shoot(t, e, 25, 320, 300, 2, still)
	for _, track := range []int{-1, 3} {
		err := s.Plan(t.Context(), render.Plan{
			Frames: 2, Source: func(int) int { return 1 }, Speaker: func(int) int { return track }, Samples: pcm(nil),
		})
		if err != nil {
			t.Fatal(err)
		}
		if mouths, err := s.Mouths(t.Context(), 0, film[1]); err != nil || len(mouths) != 0 {
			t.Errorf("track %d: %d mouths, %v, want none", track, len(mouths), err)
		}
	}
}
