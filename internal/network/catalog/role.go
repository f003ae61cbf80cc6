package catalog

import (
	"fmt"
	"slices"
)

// Role is the purpose of a model in the service.
type Role string

// The roles.
const (
	Wav2Lip         Role = "wav2lip"
	MuseTalk        Role = "musetalk"
	MuseTalkHearing Role = "musetalk-hearing"
	MuseTalkEncoder Role = "musetalk-encoder"
	MuseTalkDecoder Role = "musetalk-decoder"
	FaceDetector    Role = "face-detector"
	FaceLandmarks   Role = "face-landmarks"
	ActiveSpeaker   Role = "active-speaker"
)

// Roles returns all roles.
func Roles() []Role {
	return []Role{Wav2Lip, MuseTalk, MuseTalkHearing, MuseTalkEncoder, MuseTalkDecoder, FaceDetector, FaceLandmarks, ActiveSpeaker}
}

// paints reports whether an engine paints by the network of the role.
func (r Role) paints() bool {
	return slices.Contains([]Role{Wav2Lip, MuseTalk, MuseTalkHearing, MuseTalkEncoder, MuseTalkDecoder}, r)
}

// ParseRole reads a role's name.
func ParseRole(name string) (Role, error) {
	if !slices.Contains(Roles(), Role(name)) {
		return "", fmt.Errorf("there is no role %q: it is one of %q", name, Roles())
	}
	return Role(name), nil
}
