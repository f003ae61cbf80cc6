package lipsync

import (
	"encoding/json"
	"fmt"

	"lipsync/internal/domain/order"
)

// MostTracks is the largest number of speech tracks of a request.
const MostTracks = 10

// Tracks has the names of a request's speech tracks, and the inputs of all except the first one, which is Request.Audio.
// It is nil if there is only one track, without a name.
type Tracks []NamedInput

// NamedInput is an input with the name by which segments refer to it.
type NamedInput struct {
	Ref string `json:"ref,omitempty"`
	Input
}

// Text returns the tracks as stores keep them: as JSON, or "" for none.
func (t Tracks) Text() string { return listText(t) }

// ParseTracks parses the result of Text.
func ParseTracks(text string) (Tracks, error) { return parseList[NamedInput]("speech tracks", text) }

// listText returns a list of strings, or of structs with such, in JSON, or "" for none.
func listText[T any](list []T) string {
	if len(list) == 0 {
		return ""
	}
	return order.Compact(list)
}

// parseList parses the result of listText. The name says what the list has.
func parseList[T any](name, text string) (list []T, err error) {
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil || len(list) == 0 {
		return nil, fmt.Errorf("%s of a request: %.30q is no list", name, text)
	}
	return list, nil
}

// Audios returns the request's speech tracks, with their names. An analysis has none.
func (r Request) Audios() []NamedInput {
	if r.IsAnalysis() {
		return nil
	}
	list := make([]NamedInput, max(1, len(r.Tracks)))
	copy(list, r.Tracks)
	list[0].Input = r.Audio
	return list
}

// Inputs returns the video and the speech tracks of the request.
func (r Request) Inputs() []Input {
	all := []Input{r.Video}
	for _, audio := range r.Audios() {
		all = append(all, audio.Input)
	}
	return all
}
