package order

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"lipsync/internal/domain/failure"
)

// UnmarshalJSON reads the object that a client sends. A null counts as an absent field. The error of
// an unknown name or value is Invalid, and lists those that exist.
func (o *Options) UnmarshalJSON(text []byte) error {
	*o = Options{}
	return readObject("options", text, func(name string, value json.RawMessage) error {
		option, err := find("options", OfRequest, name)
		if err != nil {
			return err
		}
		return option.read(o, value)
	})
}

// readObject calls read for each field of the named JSON object, in the order of the fields' names. It returns the first error.
func readObject(object string, text []byte, read func(name string, value json.RawMessage) error) error {
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil {
		return failure.New(failure.Invalid, object+" must be an object")
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if err := read(name, fields[name]); err != nil {
			return err
		}
	}
	return nil
}

// Set sets the option or the field of the output with the name in JSON to the value with the text, as the form has them. The error of an
// unknown name or value is Invalid, and lists those that exist.
func (o *Options) Set(name, text string) error {
	option, err := find("options", OfRequest|OfOutput, name)
	if err != nil {
		return err
	}
	return option.set(o, text)
}

// Text returns the options as stores keep them: as JSON, or "" for the defaults.
func (o Options) Text() string {
	if o.IsZero() {
		return ""
	}
	return Compact(o)
}

// IsZero reports whether all options have their defaults, and there are no segments.
func (o Options) IsZero() bool {
	return len(o.Segments) == 0 && !slices.ContainsFunc(table, func(option *Option) bool { return option.Changed(o) })
}

// ParseOptions parses the result of Text. It ignores names and values that a newer version added.
func ParseOptions(text string) (o Options, err error) {
	if text == "" {
		return Options{}, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		return Options{}, fmt.Errorf("options of a request: %w", err)
	}
	o.Output = parseOutput(fields["output"])
	if segments := fields["segments"]; segments != nil {
		if o.Segments, err = ParseSegments(segments); err != nil {
			o.Unread = fmt.Errorf("segments of a request: %s", failure.MessageOf(err))
		}
	}
	readKnown(&o, OfRequest, fields)
	return o, nil
}

// SyncMode says what happens if the video and the speech track differ in length.
type SyncMode = Named[syncMode]

type syncMode struct{}

func (syncMode) option() *Option { return &syncModeOption }

// The sync modes. With Bounce, Loop and Remap the output is as long as the speech track.
const (
	Bounce SyncMode = iota // a short video plays forward, backward and so on; a long one is cut
	Loop                   // a short video plays from its beginning again; a long one is cut
	CutOff                 // the output is as long as the shorter of the two
	Pad                    // the output is as long as the longer of the two: silence follows a short speech track, a short video holds its last frame
	Remap                  // the speed of the video changes, at most by MostSpeed
)

// MostSpeed is the factor by which Remap changes the speed of a video at most, either way.
const MostSpeed = 2

// Silence says what the mouth does while nobody speaks.
type Silence = Named[silence]

type silence struct{}

func (silence) option() *Option { return &silenceOption }

// The values of Silence.
const (
	RestSilent Silence = iota // it rests
	KeepSilent                // it is as in the video
)

// FacelessFrames says what happens if some frames of the output show no face. A video without any
// face always fails.
type FacelessFrames = Named[facelessFrames]

type facelessFrames struct{}

func (facelessFrames) option() *Option { return &noFaceOption }

// The values of FacelessFrames.
const (
	KeepFaceless FacelessFrames = iota // they stay as they are
	FailFaceless                       // the request fails
)
