package lipsync

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
)

// MostTracks is the largest number of speech tracks of a request.
const MostTracks = 10

// Track is a speech track of a new request.
type Track struct {
	Ref string // the name by which segments refer to it; "" if it has none
	Source
}

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
	text, _ := json.Marshal(list) // strings always encode
	return string(text)
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

// newTracks returns the Tracks of speech tracks.
func newTracks(list []NamedInput) Tracks {
	if len(list) == 1 && list[0].Ref == "" {
		return nil
	}
	list = slices.Clone(list)
	list[0].Input = Input{}
	return list
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

// tracks returns all speech tracks of the new request.
func (p RequestParams) tracks() []Track {
	return append([]Track{{p.AudioRef, p.Audio}}, p.More...)
}

// checkTracks returns an error, which is Invalid, unless each segment has a speech track, and each named speech track has a segment.
func (p RequestParams) checkTracks() error {
	segments := p.Segments
	if len(segments) == 0 {
		if p.AudioRef != "" || len(p.More) > 0 {
			return failure.New(failure.Invalid, "audios with ref need segments")
		}
		return nil
	}
	if p.LargestFace {
		return failure.New(failure.Invalid, "segments can't be used with disable_active_speaker_detection")
	}
	if len(p.More) >= MostTracks {
		return failure.New(failure.Invalid, fmt.Sprintf("there can be at most %d audios", MostTracks))
	}
	var names, quoted []string
	for _, track := range p.tracks() {
		switch used := slices.Contains(segments.Refs(), track.Ref); {
		case track.Ref != "" && !order.ValidText(track.Ref):
			return failure.New(failure.Invalid, "ref of an audio must be 1 to 255 characters")
		case slices.Contains(names, track.Ref) && track.Ref == "":
			return failure.New(failure.Invalid, "two audios have no ref")
		case slices.Contains(names, track.Ref):
			return failure.New(failure.Invalid, fmt.Sprintf("two audios have the ref %.60q", track.Ref))
		case !used && track.Ref == "":
			return failure.New(failure.Invalid, "no segment has the audio without ref")
		case !used:
			return failure.New(failure.Invalid, fmt.Sprintf("no segment has the audio %.60q", track.Ref))
		}
		name := fmt.Sprintf("%.60q", track.Ref)
		if track.Ref == "" {
			name = "one without ref"
		}
		names, quoted = append(names, track.Ref), append(quoted, name)
	}
	if ref, unknown := segments.Unknown(names); unknown && ref == "" {
		return failure.New(failure.Invalid, "segment has an audio without ref; there is: "+strings.Join(quoted, ", "))
	} else if unknown {
		return failure.New(failure.Invalid, fmt.Sprintf("segment has the audio %.60q; there is: %s", ref, strings.Join(quoted, ", ")))
	}
	return segments.Check(p.Options)
}
