package render

import (
	"math"

	"lipsync/internal/speech"
)

const (
	// silentOver is the Silence of an articulation over which nobody speaks.
	silentOver = .5
	// leastPause is the length in seconds from which on a silence is a pause. Shorter ones are a part of articulation, such as
	// the closures of p, t and k (Goldman-Eisler, "Psycholinguistics: Experiments in Spontaneous Speech", 1968).
	leastPause = .25
	// fadeSeconds is how long the mouth takes from painted to the video's: as long as lips that open or close, see
	// speech.Articulation.
	fadeSeconds = .1
)

// shares returns how much of the painted mouth each frame of the output shows, of 255, if the mouth stays as in the video while
// nobody speaks. It fades at the beginning and at the end of each pause, so that nothing jumps and no speech is lost.
func shares(spoken []speech.Articulation, fps float64) []uint8 {
	out := make([]uint8, len(spoken))
	least, fade := int(math.Ceil(leastPause*fps)), int(math.Round(fadeSeconds*fps))
	for from := 0; from < len(spoken); {
		silent := spoken[from].Silence > silentOver
		to := from + 1
		for to < len(spoken) && (spoken[to].Silence > silentOver) == silent {
			to++
		}
		for i := from; i < to; i++ {
			distance := fade + 1 // from the nearest frame in which somebody speaks
			if from > 0 {
				distance = min(distance, i-from+1)
			}
			if to < len(spoken) {
				distance = min(distance, to-i)
			}
			if !silent || to-from < least {
				distance = 0
			}
			out[i] = uint8(255 * (fade + 1 - distance) / (fade + 1))
		}
		from = to
	}
	return out
}
