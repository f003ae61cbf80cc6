package failure

import (
	"encoding/json"
	"fmt"
)

// Text returns the details as they are stored: JSON, or "" for none.
func (d Details) Text() string {
	if d == (Details{}) {
		return ""
	}
	text, err := json.Marshal(d)
	if err != nil {
		panic(err) // can't happen: strings and finite numbers always encode
	}
	return string(text)
}

// ParseDetails parses the result of Text. It ignores fields that a newer version added.
func ParseDetails(text string) (d Details, err error) {
	if text == "" {
		return Details{}, nil
	}
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return Details{}, fmt.Errorf("details of a failure: %w", err)
	}
	return d, nil
}

// LargerThan returns the public sentence for a medium with too many bytes, such as: video is larger
// than 5 GiB.
func LargerThan(what string, limit int64) string { return what + " is larger than " + Spell(limit) }

// Spell returns a number of bytes with a unit: 5 GiB, 500 MiB, 7 bytes.
func Spell(n int64) string {
	switch {
	case n%(1<<30) == 0:
		return fmt.Sprintf("%d GiB", n>>30)
	case n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	default:
		return fmt.Sprintf("%d bytes", n)
	}
}

// mustBeSignable is the sentence about an output that can't be signed.
const mustBeSignable = "format must be one that can be signed, since this service signs all outputs: mp4, mov"
