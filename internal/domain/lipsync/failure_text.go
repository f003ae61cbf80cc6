package lipsync

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
