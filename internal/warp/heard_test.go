package warp

import (
	"math"
	"testing"

	"lipsync/internal/speech"
)

// TestHear checks whose examples learn what they say: those of a person who speaks
// in step with the sound, or two frames beside it.
func TestHear(t *testing.T) {
	for _, c := range []struct {
		name  string
		heard func(i int, gap float32) float32 // opening at frame i
		lag   int
		want  bool
	}{
		{"in step", func(_ int, gap float32) float32 { return gap / .3 }, 0, true},
		{"two frames late", func(_ int, gap float32) float32 { return gap / .3 }, 2, true},
		{"another voice", func(i int, _ float32) float32 { return .5 + .5*float32(math.Sin(float64(i)*.83)) }, 0, false},
		{"another speaks", func(_ int, gap float32) float32 { return gap / .3 }, 0, false},
		{"silence", func(int, float32) float32 { return 0 }, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			by := speaker(80)
			by.first = 5
			heard := make([]speech.Articulation, 90)
			for i := range by.frames {
				a := &heard[by.first+i+c.lag]
				a.Opening, a.Rounding = c.heard(i, by.frames[i].gap()), float32(i)
			}
			by.person.tracks = []*track{by}
			by.person.hear(heard, fps, func(int) bool { return c.name != "another speaks" })
			for i, e := range by.person.bank.examples {
				if got := e.heard != nil; got != c.want && i < 76 {
					t.Fatalf("example %d: labelled %t, want %t", i, got, c.want)
				}
				if c.want && e.heard.Rounding != float32(i) {
					t.Errorf("example %d: labelled with frame %g", i, e.heard.Rounding)
				}
			}
		})
	}
}

// TestSoundChooses asks for a rounded vowel of someone whose rounded and spread
// vowels have one gap and one width: the sound tells them apart.
func TestSoundChooses(t *testing.T) {
	for _, half := range []int{0, 1} { // that is rounded
		by := speaker(80)
		for i := range by.person.bank.examples {
			a := new(speech.Articulation)
			if i/40 == half {
				a.Rounding = 1
			}
			by.person.bank.examples[i].heard = a
		}
		spoken, targets := make([]speech.Articulation, 20), make([]target, 20)
		for i := range spoken {
			spoken[i] = speech.Articulation{Opening: .5, Rounding: 1}
		}
		if err := by.plan(t.Context(), fps, spoken, func(i int) int { return i }, targets); err != nil {
			t.Fatal(err)
		}
		for i, r := range targets {
			if r.example/40 != half {
				t.Errorf("frame %d shows example %d, which is spread", i, r.example)
			}
		}
	}
}
