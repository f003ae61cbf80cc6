package lipsync

import (
	"fmt"
	"slices"
	"strings"
)

// Options say how the output of a request differs from the usual one. The zero value of each field
// is its default.
type Options struct {
	SyncMode SyncMode
	Silence  Silence
	NoFace   FacelessFrames
}

// SyncMode is what happens if the video and the speech track are not equally long.
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

// Silence is what the mouth does while nobody speaks.
type Silence int

// The values of Silence.
const (
	RestSilent Silence = iota // it rests
	KeepSilent                // it is as in the video
)

var silences = []string{"rest", "keep"}

// FacelessFrames is what happens if some frames of the output show no face. A video without any
// face always fails.
type FacelessFrames int

// The values of FacelessFrames.
const (
	KeepFaceless FacelessFrames = iota // they stay as they are
	FailFaceless                       // the request fails
)

var noFaces = []string{"keep", "fail"}

// UnmarshalText reads the name that clients use. The error of an unknown one is Invalid, and lists
// all.
func (m *SyncMode) UnmarshalText(text []byte) error {
	return unmarshalName(m, "sync_mode", syncModes, text)
}

// UnmarshalText reads the name that clients use. The error of an unknown one is Invalid, and lists
// all.
func (s *Silence) UnmarshalText(text []byte) error {
	return unmarshalName(s, "silence", silences, text)
}

// UnmarshalText reads the name that clients use. The error of an unknown one is Invalid, and lists
// all.
func (f *FacelessFrames) UnmarshalText(text []byte) error {
	return unmarshalName(f, "no_face", noFaces, text)
}

// unmarshalName sets value to the place of the text among the names.
func unmarshalName[T ~int](value *T, option string, names []string, text []byte) error {
	n := slices.Index(names, string(text))
	if n < 0 {
		return newError(Invalid, fmt.Sprintf("%s must be one of: %s", option, strings.Join(names, ", ")))
	}
	*value = T(n)
	return nil
}
