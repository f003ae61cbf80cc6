package score

import (
	"math"

	"lipsync/internal/sound/speech"
)

// Viseme is a heard sound that lips must show in one of the frames from From until before To: in a closure they touch, in an open vowel
// they are apart.
type Viseme struct {
	From, To int
	Peak     int // the frame in which the sound is clearest
}

const (
	closesAround = .04 // seconds from the peak of a closure to frames in which lips may touch; with more, a shift by 3 frames hardly shows
	opensAround  = .06 // seconds from the peak of an open vowel to frames in which lips may open
)

// Visemes returns the closures and the open vowels of a speech, by its articulation in each frame.
func Visemes(spoken []speech.Articulation, fps float64) (closures, vowels []Viseme) {
	around := func(peak int, seconds float64) Viseme {
		n := int(math.Round(seconds * fps))
		return Viseme{max(peak-n, 0), min(peak+n+1, len(spoken)), peak}
	}
	for _, r := range speech.Closures(spoken) {
		closures = append(closures, around(r.Peak, closesAround))
	}
	for _, r := range speech.OpenVowels(spoken) {
		v := around(r.Peak, opensAround)
		v.From, v.To = max(v.From, r.From), min(v.To, r.To)
		vowels = append(vowels, v)
	}
	return closures, vowels
}
