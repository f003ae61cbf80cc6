// Package speaker tells who of the faces in a video speaks, shot by shot.
package speaker

import (
	"lipsync/internal/face"
	"lipsync/internal/speech"
)

// Cast records the faces of a video, frame by frame.
type Cast struct{}

// New returns an empty cast of a video with a frame rate.
func New(fps float64) *Cast { panic("todo") }

// Add records the next frame's faces; cut tells that a new shot starts with it.
func (c *Cast) Add(faces []face.Face, cut bool) { panic("todo") }

// Faces tells in how many frames there is a face.
func (c *Cast) Faces() int { panic("todo") }

// Largest returns the track of each frame's largest face, or -1.
func (c *Cast) Largest() func(frame int) int { panic("todo") }

// Active returns for each frame the track of who speaks, or -1, judged by the
// source's own sound, which is nil if it has none.
func (c *Cast) Active(sound *speech.Speech) func(frame int) int { panic("todo") }
