package order

import (
	"math"
	"strconv"

	"lipsync/internal/domain/failure"
)

// mostGain is the largest gain of a sound. A gain is a factor of amplitude: 0 is silence, and 1 leaves the
// sound as it is.
const mostGain = 2

// VoiceGain is the gain of the speech track, less 1. So its zero value is the default: a gain of 1.
type VoiceGain float64

// OriginalGain is the gain of the video's own sound. By default, 0, it is not heard.
type OriginalGain float64

// Duck says whether the video's own sound is lowered while the voice is heard.
type Duck bool

// Gain returns the gain, from 0 to mostGain.
func (g VoiceGain) Gain() float64 { return 1 + float64(g) }

// String returns the gain as clients write it.
func (g VoiceGain) String() string { return formatGain(g.Gain()) }

// MarshalJSON returns the gain as clients write it.
func (g VoiceGain) MarshalJSON() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText reads a gain. The error of anything else is Invalid, and says what is possible.
func (g *VoiceGain) UnmarshalText(text []byte) error {
	gain, err := voiceGainOption.number(text)
	if err == nil {
		*g = VoiceGain(roundGain(gain) - 1)
	}
	return err
}

// String returns the gain as clients write it.
func (g OriginalGain) String() string { return formatGain(float64(g)) }

// MarshalJSON returns the gain as clients write it.
func (g OriginalGain) MarshalJSON() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText reads a gain. The error of anything else is Invalid, and says what is possible.
func (g *OriginalGain) UnmarshalText(text []byte) error {
	gain, err := originalGainOption.number(text)
	if err == nil {
		*g = OriginalGain(roundGain(gain))
	}
	return err
}

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

// gainSteps is the number of different gains in 1. Gains are rounded to steps of -60 dB, which nobody
// hears, so that they are stored as clients wrote them.
const gainSteps = 1000

func roundGain(gain float64) float64 { return math.Round(gain*gainSteps) / gainSteps }

func formatGain(gain float64) string { return formatNumber(roundGain(gain)) }
