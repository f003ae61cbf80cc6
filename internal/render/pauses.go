package render

import (
	"math"

	"lipsync/internal/sound/speech"
)

const (
	// silentOver is the Silence of an articulation over which nobody speaks: the middle of its range.
	silentOver = .5
	// leastPause is the length of the shortest pause in seconds. Shorter silences are a part of articulation, such as the
	// closures of p, t and k (Goldman-Eisler, "Psycholinguistics: Experiments in Spontaneous Speech", 1968).
	leastPause = .25
	// fadeSeconds is the length of the fade between the painted mouth and the video's own: one movement of lips that open and
	// close 5 times a second, which is about as fast as they can.
	fadeSeconds = .1
)

// shares returns the share for blender.blend of each frame, if the mouth stays as in the video while nobody speaks: 255 in speech,
// and 0 in pauses. The fades between lie within the pauses, so that nothing jumps and all speech is painted.
func shares(spoken []speech.Articulation, fps float64) []uint8 {
	out := make([]uint8, len(spoken))
	fade := int(math.Round(fadeSeconds * fps))
	least := max(int(math.Ceil(leastPause*fps)), 2*fade+1) // some frame lies between the fades
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
