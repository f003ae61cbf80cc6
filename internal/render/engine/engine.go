// Package engine says what an engine is: it analyses the faces of a video, plans an output, and paints mouths.
package engine

import (
	"context"
	"image"
	"io"
	"os"

	"lipsync/internal/domain/order"
	"lipsync/internal/face/alignment"
	"lipsync/internal/signal/serial"
	"lipsync/internal/sound/speech"
)

// Engine makes mouths move. One Engine serves any number of jobs at once.
type Engine interface {
	// Analyse returns the Analyser of one video, which belongs to one job.
	Analyse(Video) (Analyser, error)
	// Workers returns the number of frames of one job that are painted at once, at least 1.
	Workers() int
	// Articulates tells whether the engine's Analysers need the articulation of the video's own sound.
	Articulates() bool
}

// Scratcher is an Engine whose Analysers write into Video.Scratch.
type Scratcher interface {
	Engine
	// Scratch returns how many bytes an Analyser writes for a number of faces, counted in each frame that it gets, and a number of frames of the output.
	Scratch(faces, frames int) int64
}

// Video is the format of a video.
type Video struct {
	Width, Height int     // as displayed, both even
	FPS           float64 // constant
	// Scratch is for what would take too much memory. Its content is undefined at first. It is open until the last Paint ends.
	Scratch *os.File
}

// Analyser gets the aligned faces of all source frames, once and in order, and then makes a Painter. For a longer video neither takes
// more memory, except for some tens of bytes a frame.
type Analyser interface {
	// Add adds the next frame.
	Add(alignment.Frame) error

	// Plan decides how each frame of the output is painted. It is called once,
	// after the last Add.
	Plan(ctx context.Context, out Output) (Painter, error)
}

// Output describes the video that is to be rendered.
type Output struct {
	Frames int                  // its length
	Source func(output int) int // the source frame under an output frame
	// Spoken is the articulation of the speech in each frame of the output.
	Spoken []speech.Articulation
	// Heard is the articulation of the video's own sound in each frame of the video. It is nil if there is no sound, or if
	// the engine doesn't articulate.
	Heard []speech.Articulation
	// Samples are those of the speech, and of silence after it if the output is longer, in the format of speech.Read. They can
	// be read until the last Paint ends.
	Samples *io.SectionReader
	// Speaker returns the track of the speaker in a source frame, -1 for none.
	Speaker func(source int) int
	// Hidden tells whether something is in front of a track's mouth in a source frame. The mouth is not painted on it. It is nil if nothing
	// hides any mouth.
	Hidden func(track, source int) bool
	// Mask says how large the masks of the mouths are, and how soft their edges.
	Mask order.Mask
}

// Painter makes the mouths of the output's frames.
type Painter interface {
	// Paint returns the mouths to blend into one output frame, none if no one speaks
	// in it. frame is the source frame Output.Source(output). Where the video plays
	// slower, frame may be a mixture of that one and a neighbour. The painter must
	// not change or keep it. Calls are concurrent, and for frames in any order. Frames
	// that stay as they are get no call. The masks of the mouths don't overlap.
	Paint(ctx context.Context, output int, frame *image.YCbCr) ([]Mouth, error)
}

// Mouth holds the pixels that an engine painted for one frame, and a mask by which they are blended into it.
type Mouth struct {
	Image *image.YCbCr // 4:2:0; Rect in the frame's coordinates, its edges even
	Mask  *image.Alpha // same Rect; 0 leaves the frame's pixel as it is, 255 replaces it; render may change it until Release
	// Release, if not nil, is called once, after the mouth was blended, so that an engine can use its memory again.
	Release func()
}

// Serial is an Analyser whose findings can be kept for later jobs.
type Serial interface {
	Analyser
	// Code codes what Plan needs, after the last Add. Read into a new Analyser, it makes Plan plan the same.
	Code(*serial.Coder)
}
