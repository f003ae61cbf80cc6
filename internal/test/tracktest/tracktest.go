// Package tracktest follows the faces of a video frame by frame.
package tracktest

import (
	"context"
	"image"

	"lipsync/internal/face/tracking"
)

// Tracker is a tracking.Tracker or a double of one.
type Tracker interface {
	Add(ctx context.Context, frame *image.YCbCr) (*tracking.Seen, error)
}

// Add returns the faces of a video's next frame with their mouths, and whether a new shot starts with it.
func Add(ctx context.Context, t Tracker, frame *image.YCbCr) (faces []tracking.Face, cut bool, err error) {
	seen, err := t.Add(ctx, frame)
	if err != nil {
		return nil, false, err
	}
	return seen.Faces, seen.Cut, seen.Place(ctx, frame)
}
