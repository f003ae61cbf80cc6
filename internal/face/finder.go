package face

import (
	"context"
	"errors"
	"fmt"
	"image"

	"lipsync/internal/onnx"
)

// Finder finds faces in single frames. It serves any number of trackers at
// once. Its errors are faults of the machine, such as memory that is short.
type Finder interface {
	searcher
	locator
	// Close frees what the finder holds, but not the sessions it was made with.
	Close() error
}

type searcher interface {
	// Find returns where in a frame faces may be, the surest first.
	Find(ctx context.Context, frame *image.YCbCr) ([]Box, error)
}

type locator interface {
	// Locate returns the face that is where near is, and whether there is one.
	// near is from a frame shortly before, or has only a Box that Find returned.
	Locate(ctx context.Context, frame *image.YCbCr, near Face) (f Face, ok bool, err error)
}

// NewFinder returns a finder that searches with one network (of the UltraFace
// kind) and places landmarks with another (MediaPipe's face mesh). Either may
// be nil: then the cascades of pigo do its part. A model of another shape is an
// error in a sentence.
func NewFinder(ctx context.Context, detector, landmarks *onnx.Session) (Finder, error) {
	cascades, err := newDetector()
	if err != nil {
		return nil, err
	}
	f := finder{searcher: cascades, locator: cascades}
	if detector != nil {
		s, err := newBoxNetwork(ctx, detector)
		if err != nil {
			return nil, fmt.Errorf("face detector: %w", err)
		}
		f.searcher, f.networks = s, append(f.networks, s.network)
	}
	if landmarks != nil {
		m, err := newMesh(ctx, landmarks)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("face landmarks: %w", err), f.Close())
		}
		f.locator, f.networks = m, append(f.networks, m.network)
	}
	return f, nil
}

type finder struct {
	searcher
	locator
	networks []*network
}

func (f finder) Close() error {
	var errs []error
	for _, n := range f.networks {
		errs = append(errs, n.close())
	}
	return errors.Join(errs...)
}
