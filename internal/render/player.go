package render

import (
	"context"
	"fmt"
	"image"
	"io"

	"golang.org/x/sync/errgroup"

	"lipsync/internal/ffmpeg"
)

// player decodes the source's frames in the order in which the output shows
// them. Playing forward it streams; for playing backward it decodes a stretch
// at a time.
type player struct {
	tools *ffmpeg.Tools
	video *ffmpeg.Info
	line  timeline
	sums  []uint32 // of the source's frames, as the first pass saw them
	most  int      // frames of a stretch, at least 2
}

// stretchSize bounds the frames of one stretch, in bytes; two are kept.
const stretchSize = 32 << 20

func stretchFrames(v *ffmpeg.Video) int { return max(2, stretchSize/(v.Width*v.Height*3/2)) }

// play calls emit with each output frame's pixels, in a buffer of its own.
func (p *player) play(ctx context.Context, free buffers, emit func(*image.YCbCr) error) error {
	if p.line.source <= p.most {
		return p.playHeld(ctx, free, emit)
	}
	for at := 0; at < p.line.output; {
		var n int
		var err error
		if p.line.backward(at) {
			n = min(p.line.source-2, p.line.output-at)
			err = p.playBackward(ctx, n, free, emit)
		} else {
			n = min(p.line.source, p.line.output-at)
			err = p.playForward(ctx, n, free, emit)
		}
		if err != nil {
			return err
		}
		at += n
	}
	return nil
}

// playForward plays the first n source frames.
func (p *player) playForward(ctx context.Context, n int, free buffers, emit func(*image.YCbCr) error) error {
	frames, err := p.tools.OpenFrames(ctx, p.video, n)
	if err != nil {
		return err
	}
	defer frames.Close()
	for range n {
		frame, err := free.take(ctx)
		if err != nil {
			return err
		}
		if err := frames.Read(frame); err != nil {
			return fmt.Errorf("decode video again: %w", err)
		}
		if err := emit(frame); err != nil {
			return err
		}
	}
	return nil
}

// playHeld plays a source that is so short that all its frames are kept.
func (p *player) playHeld(ctx context.Context, free buffers, emit func(*image.YCbCr) error) error {
	held := newStretch(p.video.Video, p.line.source)
	if err := p.decode(ctx, held, 0, p.line.source); err != nil {
		return err
	}
	for o := range p.line.output {
		if err := emitCopy(ctx, held.frames[p.line.at(o)], free, emit); err != nil {
			return err
		}
	}
	return nil
}

// playBackward plays n source frames from the last but one on, towards the
// beginning. The next stretch is decoded while one plays.
func (p *player) playBackward(ctx context.Context, n int, free buffers, emit func(*image.YCbCr) error) error {
	// Whoever receives the next stretch is done with the one before, so two do.
	full := make(chan *stretch)
	s, other := newStretch(p.video.Video, p.most), newStretch(p.video.Video, p.most)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(full)
		first, to := p.line.source-1-n, p.line.source-1
		for to > first {
			from := max(first, to-p.most)
			if err := p.decode(ctx, s, from, to); err != nil {
				return err
			}
			if err := send(ctx, full, s); err != nil {
				return err
			}
			to, s, other = from, other, s
		}
		return nil
	})
	g.Go(func() error {
		for s := range full {
			for i := s.n - 1; i >= 0; i-- {
				if err := emitCopy(ctx, s.frames[i], free, emit); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return g.Wait()
}

// stretch is a run of source frames in memory.
type stretch struct {
	frames []*image.YCbCr
	n      int // of frames, how many are filled
}

func newStretch(v *ffmpeg.Video, n int) *stretch {
	s := &stretch{}
	for range n {
		s.frames = append(s.frames, v.NewFrame())
	}
	return s
}

// decode fills a stretch with the source frames from to to-1. Where seeking in
// the file brings others than those of the first pass, it decodes from the
// file's beginning: slow, but right.
func (p *player) decode(ctx context.Context, s *stretch, from, to int) error {
	s.n = to - from
	frames, err := p.tools.OpenFramesAt(ctx, p.video, from, to)
	if err != nil {
		return err
	}
	ok, err := p.fill(s, frames, from)
	if ok || ctx.Err() != nil {
		return ctx.Err()
	}
	frames, err = p.tools.OpenFrames(ctx, p.video, to)
	if err != nil {
		return err
	}
	for range from {
		if err := frames.Read(s.frames[0]); err != nil {
			frames.Close()
			return fmt.Errorf("decode video again: %w", err)
		}
	}
	if ok, err := p.fill(s, frames, from); !ok {
		return fmt.Errorf("source frames from %d changed between two reads: %w", from, err)
	}
	return nil
}

// fill reads a stretch and reports whether its frames are those of the first
// pass.
func (p *player) fill(s *stretch, frames *ffmpeg.Frames, from int) (bool, error) {
	defer frames.Close()
	for i, frame := range s.frames[:s.n] {
		if err := frames.Read(frame); err != nil && err != io.EOF {
			return false, err
		} else if err == io.EOF || sum(frame) != p.sums[from+i] {
			return false, nil
		}
	}
	return true, nil
}

// emitCopy emits a copy of the frame, which the receiver may paint on.
func emitCopy(ctx context.Context, frame *image.YCbCr, free buffers, emit func(*image.YCbCr) error) error {
	own, err := free.take(ctx)
	if err != nil {
		return err
	}
	copy(own.Y, frame.Y)
	copy(own.Cb, frame.Cb)
	copy(own.Cr, frame.Cr)
	return emit(own)
}
