package order

import (
	"math"
	"time"

	"lipsync/internal/domain/failure"
)

// Stage is the step of an attempt that a worker is at.
type Stage string

// The stages of an attempt, in their order.
const (
	Fetching  Stage = "fetching"  // fetches the inputs
	Analyzing Stage = "analyzing" // finds the faces and the speaker in the video
	Rendering Stage = "rendering" // the output
	Storing   Stage = "storing"   // the output
)

// Rounded rounds to thousandths.
func Rounded(n float64) float64 { return math.Round(n*1000) / 1000 }

// Analysis describes a video and the people in it. Places are in pixels of the video as displayed, from its
// top left corner.
type Analysis struct {
	Video AnalyzedVideo  `json:"video"`
	Faces []AnalyzedFace `json:"faces"` // in order of appearance
}

// AnalyzedVideo describes a video.
type AnalyzedVideo struct {
	Seconds float64 `json:"seconds"`
	FPS     float64 `json:"fps"`
	Width   int     `json:"width"`
	Height  int     `json:"height"`
	Frames  int     `json:"frames"`
}

// AnalyzedFace is one person in a video.
type AnalyzedFace struct {
	ID    string    `json:"id"`           // of the option face: Face.String of the first box
	First float64   `json:"first_second"` // in which the person is seen
	Last  float64   `json:"last_second"`
	Share float64   `json:"share"` // of the frames, 0 to 1
	Boxes []FaceBox `json:"boxes"` // about one for each second in which the person is seen
	JPEG  []byte    `json:"thumbnail"`
}

// FaceBox is the place of a face in a frame.
type FaceBox struct {
	Frame int    `json:"frame"`
	Box   [4]int `json:"box"` // left, top, right, bottom
}

// Estimate is what a client learns about a request before it makes it.
type Estimate struct {
	Problems []Problem `json:"problems"` // for which the request would fail
	// These are of the media as a request would measure and render them, 0 if there is a problem. A video without a stated
	// length counts as long as the speech.
	VideoSeconds  float64 `json:"video_seconds,omitzero"`
	AudioSeconds  float64 `json:"audio_seconds,omitzero"`
	OutputSeconds float64 `json:"output_seconds,omitzero"`
	Frames        int     `json:"frames,omitzero"` // of the output
	Size          int64   `json:"size,omitzero"`   // pixels of the frames to analyse and to paint, in thousands
}

// Problem is a reason for which a request would fail.
type Problem struct {
	Code    failure.Reason `json:"code"`
	Message string         `json:"message"`
}

// Problems returns the problems of a request whose attempts would end with the errors; nil errors are left out. If an error says nothing
// about the client's call or its media, Problems returns that error.
func Problems(errs ...error) (all []Problem, err error) {
	for _, err := range errs {
		f := failure.Of(err)
		switch {
		case err == nil:
		case f.Code.Class() != failure.OfInput && !f.Code.OfFetch():
			return nil, err
		default:
			all = append(all, Problem{f.Code, f.Sentence()})
		}
	}
	return all, nil
}

// Origin is the data about the origin of an output that its signed manifest has.
type Origin struct {
	Engine string
	At     time.Time // the end of the rendering
}
