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

// ParseFailure returns the failure with the sentence. Versions without codes stored only the
// sentence. For an unknown sentence it returns an UnknownFailure with the sentence.
func ParseFailure(sentence string) Failure {
	for _, f := range fixedFailures() {
		if f.Sentence() == sentence {
			return f
		}
	}
	for _, f := range []Failure{parseLarger(sentence), parseLonger(sentence), parsePicture(sentence), parseRate(sentence), parseModel(sentence)} {
		if f.Sentence() == sentence {
			return f
		}
	}
	return Failure{UnknownFailure, Details{Verbatim: sentence}}
}

// fixedFailures returns the failures whose sentences have at most a kind. If several have the same
// sentence, the first is the one that older versions meant.
func fixedFailures() []Failure {
	all := []Failure{{}}
	for _, code := range []FailureCode{NoFace, NoPicture, NoSoundTrack, ProcessingTooLong, Canceled, InternalFault} {
		all = append(all, Failure{Code: code})
	}
	for _, kind := range []MediaKind{Video, Audio} {
		for _, code := range []FailureCode{MediaNotAccessible, MediaUnsupported} {
			all = append(all, Failure{code, Details{Kind: kind}})
		}
	}
	return all
}

// The functions below parse as much of a sentence as they can. ParseFailure compares the result's
// own sentence with it, to learn whether that was all.

func parseLarger(sentence string) Failure {
	f := Failure{Code: MediaLargerThan}
	var unit string
	_, _ = fmt.Sscanf(sentence, "%s is larger than %d %s", &f.Kind, &f.Limit.Bytes, &unit)
	f.Limit.Bytes <<= map[string]int{"GiB": 30, "MiB": 20}[unit]
	return f
}

func parseLonger(sentence string) Failure {
	f := Failure{Code: MediaLongerThan}
	var limit, value float64
	if n, _ := fmt.Sscanf(sentence, "%s is longer than %g minutes: %g minutes", &f.Kind, &limit, &value); n == 3 {
		f.Value.Seconds = 60 * value
	}
	f.Limit.Seconds = 60 * limit
	return f
}

func parsePicture(sentence string) Failure {
	f := Failure{Code: PictureLargerThan}
	_, _ = fmt.Sscanf(sentence, "video is larger than %d × %d pixels: %d × %d pixels",
		&f.Limit.Width, &f.Limit.Height, &f.Value.Width, &f.Value.Height)
	return f
}

func parseRate(sentence string) Failure {
	f := Failure{Code: FrameRateAbove}
	_, _ = fmt.Sscanf(sentence, "video has more than %g frames per second: %g", &f.Limit.FPS, &f.Value.FPS)
	return f
}

func parseModel(sentence string) Failure {
	f := Failure{Code: ModelNotInstalled}
	_, _ = fmt.Sscanf(sentence, "model %q is not installed", &f.Model)
	return f
}
