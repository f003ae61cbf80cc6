package warp

import (
	"math"
	"testing"

	"lipsync/internal/sound/speech"
	"lipsync/internal/test/check"
)

// TestLabel checks that examples are labelled with the video's own sound if the person speaks in step
// with it, or two frames before it, and not otherwise.
func TestLabel(t *testing.T) {
	inStep := func(_ int, gap float32) float32 { return gap / .3 }
	for _, c := range []struct {
		name  string
		heard func(i int, gap float32) float32 // opening at frame i
		lag   int                              // frames by which the sound is late
		want  bool                             // labels
	}{
		{name: "in step", heard: inStep, want: true},
		{name: "two frames late", heard: inStep, lag: 2, want: true},
		{name: "another voice", heard: func(i int, _ float32) float32 { return .5 + .5*float32(math.Sin(float64(i)*.83)) }},
		{name: "another speaks", heard: inStep},
		{name: "silence", heard: func(int, float32) float32 { return 0 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			talker := talkingTrack(t, 80)
			talker.first = 5
			heard := make([]speech.Articulation, 90)
			for i, o := range talker.observations(t) {
				a := &heard[talker.first+i+c.lag]
				a.Opening, a.Rounding = c.heard(i, o.Gap()), float32(i)
			}
			talker.person.tracks = []*track{talker}
			check.Must(t, talker.person.label(heard, fps, func(int) bool { return c.name != "another speaks" }))
			for i, e := range talker.person.bank.examples {
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

// TestSoundChooses asks for a rounded vowel of a person whose rounded and spread vowels have the same
// gap and width. Only the labels distinguish them.
func TestSoundChooses(t *testing.T) {
	for _, half := range []int{0, 1} { // of the frames, is rounded
		talker := talkingTrack(t, 80)
		for i := range talker.person.bank.examples {
			a := new(speech.Articulation)
			if i/40 == half {
				a.Rounding = 1
			}
			talker.person.bank.examples[i].heard = a
		}
		spoken := make([]speech.Articulation, 20)
		for i := range spoken {
			spoken[i] = speech.Articulation{Opening: .5, Rounding: 1}
		}
		for i, r := range planSpoken(t, talker, spoken) {
			if r.example/40 != half {
				t.Errorf("frame %d shows example %d, which is spread", i, r.example)
			}
		}
	}
}
