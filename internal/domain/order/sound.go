package order

import (
	"strconv"

	"lipsync/internal/domain/failure"
)

// mostGain is the largest gain of a sound. A gain is a factor of amplitude: 0 is silence, and 1 leaves the
// sound as it is.
const mostGain = 2

// VoiceGain is the gain of the speech track, as a Factor. A thousandth is -60 dB, which nobody hears.
type VoiceGain = Factor[voiceGain]

type voiceGain struct{}

func (voiceGain) option() *Option { return &voiceGainOption }

// OriginalGain is the gain of the video's own sound, as a Factor.
type OriginalGain = Factor[originalGain]

type originalGain struct{}

func (originalGain) option() *Option { return &originalGainOption }

// Duck says whether the video's own sound is lowered while the voice is heard.
type Duck bool

// String returns true or false.
func (d Duck) String() string { return strconv.FormatBool(bool(d)) }

// UnmarshalText reads true or false. The error of anything else is Invalid.
func (d *Duck) UnmarshalText(text []byte) error {
	switch string(text) {
	case "true", "false":
		*d = string(text) == "true"
		return nil
	default:
		return failure.New(failure.Invalid, "duck must be true or false")
	}
}
