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
	closesBefore = .04 // lips close up to so many seconds before a closure is heard
	opensAround  = .06 // lips open for a vowel so many seconds from its peak, at most
)

// Visemes returns the closures and the open vowels of a speech, by its articulation in each frame.
func Visemes(spoken []speech.Articulation, fps float64) (closures, vowels []Viseme) {
	before, around := int(math.Ceil(closesBefore*fps)), int(math.Ceil(opensAround*fps))
	for _, r := range speech.Closures(spoken) {
		closures = append(closures, Viseme{max(r.From-before, 0), r.To, r.Peak})
	}
	for _, r := range speech.OpenVowels(spoken) {
		vowels = append(vowels, Viseme{max(r.From, r.Peak-around), min(r.To, r.Peak+around+1), r.Peak})
	}
	return closures, vowels
}
