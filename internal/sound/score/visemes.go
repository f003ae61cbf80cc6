package score

import (
	"math"

	"lipsync/internal/sound/speech"
)

// Viseme is a heard sound that lips must show in one of the frames from From until before To: in a closure they touch, in an open vowel
// they are apart. A closure lasts a frame or two, so frames around its peak count. In a vowel lips stay open around the peak, so that frame alone is
// read: each reading runs a network.
type Viseme struct {
	From, To int
	Peak     int // the frame in which the sound is clearest
}

// closesAround is the time from the peak of a closure to frames in which lips may touch, in seconds; with more, a shift by 3 frames hardly shows.
const closesAround = .04

// Visemes returns the closures and the open vowels of a speech, by its articulation in each frame.
func Visemes(spoken []speech.Articulation, fps float64) (closures, vowels []Viseme) {
	n := int(math.Round(closesAround * fps))
	for _, r := range speech.Closures(spoken) {
		closures = append(closures, Viseme{max(r.Peak-n, 0), min(r.Peak+n+1, len(spoken)), r.Peak})
	}
	for _, r := range speech.OpenVowels(spoken) {
		vowels = append(vowels, Viseme{r.Peak, r.Peak + 1, r.Peak})
	}
	return closures, vowels
}
