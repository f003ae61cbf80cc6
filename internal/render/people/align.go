package people

import (
	"context"
	"fmt"
	"image"

	"lipsync/internal/face/alignment"
	"lipsync/internal/face/tracking"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render/flow"
	"lipsync/internal/render/footage"
)

// Tracker follows faces; see tracking.Tracker.
type Tracker interface {
	Add(ctx context.Context, frame *image.YCbCr) (*tracking.Seen, error)
}

// In the first pass the mouths of aheadMost frames or fewer are placed at once, so that a network sees several of them together. So
// many full frames are in memory, and those that are decoded and tracked meanwhile. Of large frames there are fewer.
const (
	aheadMost  = 16
	aheadBytes = 64 << 20
	besides    = 4
)

// ahead returns the number of full frames in memory in the first pass.
func ahead(v *medium.Video) int { return besides + min(aheadMost, aheadBytes/v.FrameSize()) }

// Align decodes the source's frames, and tracks and aligns their faces, in goroutines of the group. It returns the channel of the
// aligned frames, and sets the footage and why each frame has no face.
func Align(ctx context.Context, g flow.Group, s footage.Source, newTracker func(fps float64) Tracker, f *footage.Footage, lost *[]tracking.Lost) <-chan alignment.Frame {
	fps := s.Video.Video.Rate.Float()
	free := flow.NewBuffers(ahead(s.Video.Video), s.Video.Video.NewFrame)
	decoded, tracked, aligned := make(chan *image.YCbCr, besides-1), make(chan placing, cap(free)), make(chan alignment.Frame)
	g.Go(func() (err error) {
		defer close(decoded)
		*f, err = s.Decode(ctx, free, decoded)
		return err
	})
	g.Go(func() error {
		defer close(tracked)
		return track(ctx, g, newTracker(fps), decoded, free, tracked)
	})
	g.Go(func() error {
		defer close(aligned)
		return alignAll(ctx, alignment.NewAligner(fps), tracked, aligned, lost)
	})
	return aligned
}

// placing is a tracked frame whose mouths are being placed.
type placing struct {
	*tracking.Seen
	done chan struct{} // closed when they are
}

// track follows the faces of decoded frames, and places their mouths in goroutines of the group. It puts the decoded frames back into
// free.
func track(ctx context.Context, g flow.Group, tracker Tracker, decoded <-chan *image.YCbCr, free flow.Buffers[*image.YCbCr], tracked chan<- placing) error {
	for frame := range decoded {
		seen, err := tracker.Add(ctx, frame)
		if err != nil {
			return fmt.Errorf("find faces: %w", err)
		}
		p := placing{seen, make(chan struct{})}
		g.Go(func() error {
			if err := p.Place(ctx, frame); err != nil {
				return fmt.Errorf("find mouths: %w", err)
			}
			free.Put(frame)
			close(p.done)
			return nil
		})
		if err := flow.Send(ctx, tracked, p); err != nil {
			return err
		}
	}
	return nil
}

// alignAll aligns the faces of tracked frames, and sends the aligned frames. It appends to lost why each has no face.
func alignAll(ctx context.Context, aligner *alignment.Aligner, tracked <-chan placing, aligned chan<- alignment.Frame, lost *[]tracking.Lost) error {
	for p := range tracked {
		select {
		case <-p.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		*lost = append(*lost, p.Lost)
		if err := flow.SendAll(ctx, aligned, aligner.Add(p.Faces, p.Cut)); err != nil {
			return err
		}
	}
	return flow.SendAll(ctx, aligned, aligner.End())
}
