package score

import (
	"slices"
	"testing"

	"lipsync/internal/sound/speech"
)

// TestVisemes checks the frames in which lips must show sounds.
func TestVisemes(t *testing.T) {
	spoken := make([]speech.Articulation, 30)
	for i, v := range map[int]float32{0: 1, 1: .4, 14: .4, 15: 1, 16: .3, 29: .6} {
		spoken[i].Closure = v
	}
	for i, v := range map[int]float32{4: .45, 5: .9, 6: .8, 7: .6, 8: .6, 9: .5, 20: .6} {
		spoken[i].Opening = v
	}
	for _, c := range []struct {
		fps              float64
		closures, vowels []Viseme
	}{
		{25, []Viseme{{0, 2, 0}, {14, 17, 15}, {28, 30, 29}}, []Viseme{{5, 6, 5}, {20, 21, 20}}},
		{30, []Viseme{{0, 2, 0}, {14, 17, 15}, {28, 30, 29}}, []Viseme{{5, 6, 5}, {20, 21, 20}}},
		{50, []Viseme{{0, 3, 0}, {13, 18, 15}, {27, 30, 29}}, []Viseme{{5, 6, 5}, {20, 21, 20}}},
	} {
		closures, vowels := Visemes(spoken, c.fps)
		if !slices.Equal(closures, c.closures) || !slices.Equal(vowels, c.vowels) {
			t.Errorf("%g frames/s: got %v and %v, want %v and %v", c.fps, closures, vowels, c.closures, c.vowels)
		}
	}
}
