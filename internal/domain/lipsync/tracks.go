package lipsync

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// MostTracks is the largest number of speech tracks of a request.
const MostTracks = 10

// Track is a speech track of a new request.
type Track struct {
	Ref string // the name by which segments refer to it; "" if it has none
	Source
}

// Tracks has the names of a request's speech tracks, and the inputs of all except the first one, which is Request.Audio.
// It is a list in JSON, and a string so that requests can be compared. It is "" if there is only one track, without a name.
type Tracks string

// NamedInput is an input with the name by which segments refer to it.
type NamedInput struct {
	Ref string `json:"ref,omitempty"`
	Input
}

// ParseTracks checks a list that a store has.
func ParseTracks(text string) (Tracks, error) {
	var list []NamedInput
	if text == "" {
		return "", nil
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil || len(list) == 0 {
		return "", fmt.Errorf("speech tracks of a request: %.30q is no list", text)
	}
	return Tracks(text), nil
}

// newTracks returns the Tracks of speech tracks.
func newTracks(list []NamedInput) Tracks {
	if len(list) == 1 && list[0].Ref == "" {
		return ""
	}
	list = slices.Clone(list)
	list[0].Input = Input{}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // can't happen: strings always encode
	}
	return Tracks(text)
}

// Audios returns the request's speech tracks, with their names. An analysis has none.
func (r Request) Audios() []NamedInput {
	if r.IsAnalysis() {
		return nil
	}
	list := make([]NamedInput, 1)
	if r.Tracks != "" {
		if err := json.Unmarshal([]byte(r.Tracks), &list); err != nil {
			panic(err) // can't happen: ParseTracks checked it
		}
	}
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
	segments, err := p.Options.Segments.Segments()
	if err != nil {
		return err
	}
	if len(segments) == 0 {
		if p.AudioRef != "" || len(p.More) > 0 {
			return newError(Invalid, "audios with ref need segments")
		}
		return nil
	}
	if p.LargestFace {
		return newError(Invalid, "segments can't be used with disable_active_speaker_detection")
	}
	if len(p.More) >= MostTracks {
		return newError(Invalid, fmt.Sprintf("there can be at most %d audios", MostTracks))
	}
	var names, quoted []string
	for _, track := range p.tracks() {
		switch used := slices.Contains(segments.Refs(), track.Ref); {
		case track.Ref != "" && !validText(track.Ref):
			return newError(Invalid, "ref of an audio must be 1 to 255 characters")
		case slices.Contains(names, track.Ref) && track.Ref == "":
			return newError(Invalid, "two audios have no ref")
		case slices.Contains(names, track.Ref):
			return newError(Invalid, fmt.Sprintf("two audios have the ref %.60q", track.Ref))
		case !used && track.Ref == "":
			return newError(Invalid, "no segment has the audio without ref")
		case !used:
			return newError(Invalid, fmt.Sprintf("no segment has the audio %.60q", track.Ref))
		}
		name := fmt.Sprintf("%.60q", track.Ref)
		if track.Ref == "" {
			name = "one without ref"
		}
		names, quoted = append(names, track.Ref), append(quoted, name)
	}
	if ref, unknown := segments.Unknown(names); unknown && ref == "" {
		return newError(Invalid, "segment has an audio without ref; there is: "+strings.Join(quoted, ", "))
	} else if unknown {
		return newError(Invalid, fmt.Sprintf("segment has the audio %.60q; there is: %s", ref, strings.Join(quoted, ", ")))
	}
	return segments.Check(p.Options)
}
