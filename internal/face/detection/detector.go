package detection

import (
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"

	"lipsync/internal/face/eyes"
	"lipsync/internal/network/onnx"
)

// Detector finds faces in single frames. Any number of videos can use it at once. Its errors are faults of the
// machine, such as too little memory.
type Detector interface {
	boxDetector
	landmarkDetector
	// Close frees the memory of the detector, but not the sessions from which it was made.
	Close() error
}

type boxDetector interface {
	// Detect returns the faces of a frame, the surest first: their boxes, and their pupils if the detector finds them. smallest is a share
	// of the frame's shorter side. Faces with a smaller side may be left out, which saves time.
	Detect(ctx context.Context, frame *image.YCbCr, smallest float64) ([]Face, error)
}

type landmarkDetector interface {
	// Locate returns the face at the place of near, and whether there is one. near is from a frame shortly before, or from Detect. Then a
	// second call finds the face more exactly.
	Locate(ctx context.Context, frame *image.YCbCr, near Face) (f Face, ok bool, err error)

	// LocateMouth returns a face whose box and rigid landmarks are right with its lips and mobile landmarks, and whether they were found.
	LocateMouth(ctx context.Context, frame *image.YCbCr, f Face) (placed Face, ok bool, err error)
}

// Sessions returns the number of sessions of the model of landmarks that New should get. On a GPU a session runs faces of one number
// only, so that it never plans again. One is for a face that somebody waits for, and one for the mouths of many frames.
func Sessions(p onnx.Provider) int {
	if p == onnx.CPU {
		return 1
	}
	return 2
}

// New returns a detector that finds boxes with one network (of the UltraFace kind) and landmarks with another
// (MediaPipe's face mesh). Either may be nil: then the eyes of the product do its part. If a network has wrong shapes, the
// error is a sentence that says which shapes it must have. The log is used with networks only.
func New(ctx context.Context, log *slog.Logger, boxes *onnx.Session, landmarks ...*onnx.Session) (Detector, error) {
	d := detector{boxDetector: search{newBuiltIn(eyes.Search(), awaited())}, landmarkDetector: builtInMesh()}
	if boxes != nil {
		s, err := newBoxNetwork(ctx, log, boxes)
		if err != nil {
			return nil, fmt.Errorf("face detector: %w", err)
		}
		d.boxDetector, d.networks = s, append(d.networks, s.network)
	}
	if len(landmarks) > 0 && landmarks[0] != nil {
		m, networks, err := newMesh(ctx, log, landmarks)
		d.networks = append(d.networks, networks...)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("face landmarks: %w", err), d.Close())
		}
		d.landmarkDetector = m
	}
	return d, nil
}

type detector struct {
	boxDetector
	landmarkDetector
	networks []*network
}

func (d detector) Close() error {
	var errs []error
	for _, n := range d.networks {
		errs = append(errs, n.close())
	}
	return errors.Join(errs...)
}
