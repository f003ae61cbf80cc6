package onnx

import (
	"fmt"
	"slices"
	"strings"
)

// Role is what a model does in the service.
type Role string

// The roles.
const (
	Wav2Lip       Role = "wav2lip"
	FaceDetector  Role = "face-detector"
	FaceLandmarks Role = "face-landmarks"
	ActiveSpeaker Role = "active-speaker"
)

// Roles lists the roles.
func Roles() []Role { return []Role{Wav2Lip, FaceDetector, FaceLandmarks, ActiveSpeaker} }

// ParseRole reads a role's name.
func ParseRole(name string) (Role, error) {
	if !slices.Contains(Roles(), Role(name)) {
		return "", fmt.Errorf("there is no role %q: it is one of %q", name, Roles())
	}
	return Role(name), nil
}

// Sizes in the shapes of a role that the models choose.
const (
	free = -1 // whatever it is
	side = -2 // that of a square picture: fixed, and the same in all shapes
)

// shapes are those of the inputs and outputs that a role's models have, in any order.
func (r Role) shapes() (inputs, outputs [][]int) {
	switch r {
	case Wav2Lip: // mel spectrogram and two pictures of a face; the face that speaks
		return [][]int{{free, 1, 80, 16}, {free, 6, side, side}}, [][]int{{free, 3, side, side}}
	case FaceDetector: // a picture; scores and boxes
		return [][]int{{free, 3, free, free}}, [][]int{{free, free, 2}, {free, free, 4}}
	case FaceLandmarks: // a face; whether it is one, and its points
		return [][]int{{free, 3, side, side}}, [][]int{{free}, {free, free, 3}}
	case ActiveSpeaker: // mel cepstrum and grey faces; a score for each
		return [][]int{{free, free, 13}, {free, free, 112, 112}}, [][]int{{free, free}}
	}
	return nil, nil
}

// Check fails unless a network of these inputs and outputs can have the role. It
// returns the side of the pictures, or 0 if the role knows no such thing.
func (r Role) Check(inputs, outputs []Info) (int, error) {
	wantInputs, wantOutputs := r.shapes()
	size := 0
	if match(inputs, wantInputs, &size) && match(outputs, wantOutputs, &size) {
		return size, nil
	}
	return 0, fmt.Errorf("a model of the role %s takes %s and gives %s, and this one takes %s and gives %s",
		r, wanted(wantInputs), wanted(wantOutputs), given(inputs), given(outputs))
}

// match tells whether each wanted shape is that of one of the tensors.
func match(infos []Info, want [][]int, size *int) bool {
	if len(infos) != len(want) {
		return false
	}
	left := slices.Clone(infos)
	for _, shape := range want {
		i := slices.IndexFunc(left, func(info Info) bool { return matchShape(info.Shape, shape, size) })
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return true
}

func matchShape(got, want []int, size *int) bool {
	if len(got) != len(want) {
		return false
	}
	found := *size
	for i, n := range want {
		switch {
		case n == side && found == 0 && got[i] > 0:
			found = got[i]
		case n == side && got[i] != found && (got[i] != -1 || found == 0):
			return false
		case n > 0 && got[i] != n && got[i] != -1:
			return false
		}
	}
	*size = found
	return true
}

func wanted(shapes [][]int) string {
	texts := make([]string, len(shapes))
	for i, shape := range shapes {
		texts[i] = strings.ReplaceAll(shapeText(shape), fmt.Sprint(side), "N")
	}
	return strings.Join(texts, " and ")
}

func given(infos []Info) string {
	texts := make([]string, len(infos))
	for i, info := range infos {
		texts[i] = shapeText(info.Shape)
	}
	return strings.Join(texts, " and ")
}
