package render

import (
	"context"
	"image"
	"io"

	"lipsync/internal/alignment"
	"lipsync/internal/speech"
)

// Engine makes mouths move. One Engine serves any number of jobs at once.
type Engine interface {
	// Analyse starts on one video. The Analyser belongs to one job.
	Analyse(Video) (Analyser, error)
	// Workers is how many frames of one job are to be painted at once, at least 1.
	Workers() int
	// Articulates tells whether its Analysers need the articulation that is in an Output.
	Articulates() bool
}

// Video is the format of a video.
type Video struct {
	Width, Height int     // as displayed, both even
	FPS           float64 // constant
}

// Analyser sees the aligned faces of all source frames, once and in order, and
// then makes a Painter of what it learned. Neither takes more memory for a longer
// video, except for some hundred bytes a frame.
type Analyser interface {
	// Add sees the next frame.
	Add(alignment.Frame) error

	// Plan decides how each frame of the output is painted. It is called once,
	// after the last Add.
	Plan(ctx context.Context, out Output) (Painter, error)
}

// Output describes the video that is to be rendered.
type Output struct {
	Frames int                  // its length
	Source func(output int) int // the source frame under an output frame
	// Spoken is what the speech asks of a mouth in each frame of the output. It is nil
	// if the engine doesn't articulate.
	Spoken []speech.Articulation
	// Heard is what the source's own sound says in each frame of the source. It is nil
	// if there is none, or if the engine doesn't articulate.
	Heard []speech.Articulation
	// Samples are those of the speech, as speech.Read takes them. They can be
	// read until the last Paint ends.
	Samples *io.SectionReader
	// Speaker tells whose mouth moves in a source frame: the face's track, or
	// -1 for none.
	Speaker func(source int) int
}

// Painter makes the mouths of the output's frames.
type Painter interface {
	// Paint returns the mouths to paint on one output frame, none if no one speaks
	// there. Calls are concurrent, for any frames; frame is the pixels of
	// Output.Source(output), which the painter must not change or keep. The masks
	// of the mouths don't overlap.
	Paint(ctx context.Context, output int, frame *image.YCbCr) ([]Mouth, error)
}

// Mouth is the paint of an engine on one frame: pixels, and how much of each is
// seen. Nothing outside the mask changes.
type Mouth struct {
	Image *image.YCbCr // 4:2:0; Rect in the frame's coordinates, its edges even
	Mask  *image.Alpha // same Rect; 0 leaves the frame's pixel as it is, 255 replaces it
	// Release, if not nil, is called once when both were used, so that an engine
	// can use their memory again.
	Release func()
}
