package lipsync

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Options change how a request is rendered. The zero value of each field is its default, and is
// absent in JSON.
type Options struct {
	SyncMode     SyncMode       `json:"sync_mode,omitzero"`
	Silence      Silence        `json:"silence,omitzero"`
	NoFace       FacelessFrames `json:"no_face,omitzero"`
	VoiceGain    VoiceGain      `json:"voice_gain,omitzero"`
	OriginalGain OriginalGain   `json:"original_gain,omitzero"`
	Duck         Duck           `json:"duck,omitzero"`
	Preview      Preview        `json:"preview,omitzero"`
	Face         Face           `json:"face,omitzero"`
	Mask         Mask           `json:"mask,omitzero"`

	// These are fields of their own in calls of clients.
	Output   Output      `json:"output,omitzero"`
	Segments SegmentList `json:"segments,omitzero"`
}

// optionNames lists the names of all options in JSON.
const optionNames = "sync_mode, silence, no_face, voice_gain, original_gain, duck, preview, face, mask"

// UnmarshalJSON reads the object that a client sends. A null counts as an absent field. The error of
// an unknown name or value is Invalid, and lists those that exist.
func (o *Options) UnmarshalJSON(text []byte) error {
	*o = Options{}
	return readObject("options", text, func(name string, value json.RawMessage) error {
		field, err := o.field(name)
		if err != nil {
			return err
		}
		text, null := textOf(field, value)
		if null {
			return nil
		}
		return field.UnmarshalText(text)
	})
}

// readObject calls read for each field of the named JSON object, in the order of the fields' names. It returns the first error.
func readObject(object string, text []byte, read func(name string, value json.RawMessage) error) error {
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil {
		return newError(Invalid, object+" must be an object")
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if err := read(name, fields[name]); err != nil {
			return err
		}
	}
	return nil
}

// textOf returns the text of an option's value in JSON. A gain, a switch, a preview, a mask and most faces
// are not strings in JSON; all other values are. The text of a value of the wrong kind is empty, which no option
// accepts.
func textOf(field encoding.TextUnmarshaler, value json.RawMessage) (text []byte, null bool) {
	var name *string
	err := json.Unmarshal(value, &name)
	if err == nil && name == nil {
		return nil, true
	}
	switch field.(type) {
	case *VoiceGain, *OriginalGain, *Duck:
		if err != nil {
			return value, false
		}
	case *Preview:
		return previewText(value), false
	case *Face:
		return faceText(value), false
	case *Mask:
		return maskText(value), false
	default:
		if err == nil {
			return []byte(*name), false
		}
	}
	return nil, false
}

// Set sets the field with the name in JSON to the value with the name that clients use. The error of an
// unknown name or value is Invalid, and lists those that exist.
func (o *Options) Set(name, value string) error {
	field, err := o.field(name)
	if err != nil {
		return err
	}
	return field.UnmarshalText([]byte(value))
}

// field returns the field with the name in JSON.
func (o *Options) field(name string) (encoding.TextUnmarshaler, error) {
	switch name {
	case "sync_mode":
		return &o.SyncMode, nil
	case "silence":
		return &o.Silence, nil
	case "no_face":
		return &o.NoFace, nil
	case "voice_gain":
		return &o.VoiceGain, nil
	case "original_gain":
		return &o.OriginalGain, nil
	case "duck":
		return &o.Duck, nil
	case "preview":
		return &o.Preview, nil
	case "face":
		return &o.Face, nil
	case "mask":
		return &o.Mask, nil
	default:
		return nil, newError(Invalid, fmt.Sprintf("options has no field %.30q; it has: %s", name, optionNames))
	}
}

// Text returns the options as stores keep them: as JSON, or "" for the defaults.
func (o Options) Text() string {
	if o == (Options{}) {
		return ""
	}
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // can't happen: names always encode
	}
	return string(text)
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
	o.Output, o.Segments = parseOutput(fields["output"]), SegmentList(fields["segments"])
	for name, value := range fields {
		if field, err := o.field(name); err == nil {
			text, _ := textOf(field, value)
			_ = field.UnmarshalText(text)
		}
	}
	return o, nil
}

// SyncMode says what happens if the video and the speech track differ in length.
type SyncMode int

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

// syncModes has the names that clients use.
var syncModes = []string{"bounce", "loop", "cut_off", "silence", "remap"}

// Silence says what the mouth does while nobody speaks.
type Silence int

// The values of Silence.
const (
	RestSilent Silence = iota // it rests
	KeepSilent                // it is as in the video
)

// silences has the names that clients use.
var silences = []string{"rest", "keep"}

// FacelessFrames says what happens if some frames of the output show no face. A video without any
// face always fails.
type FacelessFrames int

// The values of FacelessFrames.
const (
	KeepFaceless FacelessFrames = iota // they stay as they are
	FailFaceless                       // the request fails
)

// noFaces has the names that clients use.
var noFaces = []string{"keep", "fail"}

// String returns the name that clients use.
func (m SyncMode) String() string { return syncModes[m] }

// MarshalText returns the name that clients use.
func (m SyncMode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads the name that clients use. The error of an unknown name is Invalid, and lists
// all names.
func (m *SyncMode) UnmarshalText(text []byte) error {
	return unmarshalName(m, "sync_mode", syncModes, text)
}

// String returns the name that clients use.
func (s Silence) String() string { return silences[s] }

// MarshalText returns the name that clients use.
func (s Silence) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the name that clients use. The error of an unknown name is Invalid, and lists
// all names.
func (s *Silence) UnmarshalText(text []byte) error {
	return unmarshalName(s, "silence", silences, text)
}

// String returns the name that clients use.
func (f FacelessFrames) String() string { return noFaces[f] }

// MarshalText returns the name that clients use.
func (f FacelessFrames) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads the name that clients use. The error of an unknown name is Invalid, and lists
// all names.
func (f *FacelessFrames) UnmarshalText(text []byte) error {
	return unmarshalName(f, "no_face", noFaces, text)
}

// unmarshalName sets value to the index of the text in names.
func unmarshalName[T ~int](value *T, option string, names []string, text []byte) error {
	n := slices.Index(names, string(text))
	if n < 0 {
		return newError(Invalid, fmt.Sprintf("%s must be one of: %s", option, strings.Join(names, ", ")))
	}
	*value = T(n)
	return nil
}
