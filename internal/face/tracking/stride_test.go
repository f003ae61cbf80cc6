package tracking

import (
	"slices"
	"testing"

	"lipsync/internal/test/facetest"
)

func TestStride(t *testing.T) {
	for _, c := range []struct {
		fps  float64
		want int
	}{{1, 1}, {25, 1}, {30, 1}, {48000. / 1001, 2}, {50, 2}, {60, 2}, {100, 3}, {120, 3}} {
		if got := Stride(c.fps); got != c.want {
			t.Errorf("%.2f frames/s: got one of %d, want one of %d", c.fps, got, c.want)
		}
	}
}

// TestTrackedFrames checks which frames of a fast video are looked at: each second
// one, and the first of a shot.
func TestTrackedFrames(t *testing.T) {
	h := facetest.Head{X: 200, Y: 150, Eyes: 45}
	tracker := NewTracker(newDetector(t, "", ""), 60)
	var tracked, cuts []int
	for i := range 14 {
		frame := facetest.Frame(width, height, h)
		if i >= 7 { // another room
			for k := range frame.Y {
				frame.Y[k] /= 2
			}
		}
		faces, cut, err := add(t.Context(), tracker, frame)
		if err != nil {
			t.Fatal(err)
		}
		if len(faces) > 0 {
			tracked = append(tracked, i)
		}
		if cut {
			cuts = append(cuts, i)
		}
	}
	if want := []int{0, 2, 4, 6, 7, 9, 11, 13}; !slices.Equal(tracked, want) {
		t.Errorf("tracked: got %v, want %v", tracked, want)
	}
	if want := []int{7}; !slices.Equal(cuts, want) {
		t.Errorf("cuts: got %v, want %v", cuts, want)
	}
}
