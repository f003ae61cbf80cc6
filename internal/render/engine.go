package render

import (
	"context"
	"image"
	"io"

	"lipsync/internal/face"
	"lipsync/internal/speech"
)

// Engine makes mouths move. One Engine serves any number of jobs at once.
type Engine interface {
	// Begin starts on one video. The Session belongs to one job.
	Begin(Video) (Session, error)
	// Workers is how many frames of one job it is to be asked for at once, at
	// least 1.
	Workers() int
}

// Video is what is known of a video before its first frame.
type Video struct {
	Width, Height int     // as displayed, both even
	FPS           float64 // constant
}

// Session is an engine's work on one video: it sees all source frames once, in
// order (Observe), then learns what is to be said by whom (Plan), and then makes
// the mouths of the output's frames (Mouths).
//
// Its memory is bounded whatever the video's length, but for some hundred bytes
// a frame.
type Session interface {
	// Observe sees the source frame of the index with the faces in it. The
	// frame is only valid during the call.
	Observe(index int, frame *image.YCbCr, faces []face.Face) error

	// Plan is called once, after the last Observe and before the first Mouths.
	Plan(ctx context.Context, plan Plan) error

	// Mouths returns what to paint on one output frame, nothing if no one
	// speaks there. Calls are concurrent, for any frames; frame is the pixels
	// of Plan.Source[output], which the session must not change or keep. The
	// masks of what is returned don't overlap.
	Mouths(ctx context.Context, output int, frame *image.YCbCr) ([]Mouth, error)
}

// Plan tells a session what the output is to be.
type Plan struct {
	Frames int                  // output's length
	Source func(output int) int // the source frame under an output frame
	Speech *speech.Speech
	// Samples are those of the speech, as speech.Read takes them. They can be
	// read until the last Mouths ends.
	Samples *io.SectionReader
	// Speaker tells whose mouth moves in a source frame: the face's track, or
	// -1 for none.
	Speaker func(source int) int
}

// Mouth is what an engine paints on one frame: pixels, and how much of each is
// seen. Nothing outside the mask changes.
type Mouth struct {
	Image *image.YCbCr // 4:2:0; Rect in the frame's coordinates, its edges even
	Mask  *image.Alpha // same Rect; 0 leaves the frame's pixel as it is, 255 replaces it
	// Release, if not nil, is called once when both were used, so that an engine
	// can use their memory again.
	Release func()
}
