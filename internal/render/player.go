package render

import (
	"context"
	"fmt"
	"image"

	"lipsync/internal/ffmpeg"
)

// player reads the source's frames in the order of the output. If they were not kept, it decodes them again: forward as a stream,
// and backward one stretch at a time.
type player struct {
	*source
	line timeline
}

// play calls emit with the pixels of each output frame, each in a free buffer.
func (p *player) play(ctx context.Context, free buffers, emit func(*image.YCbCr) error) error {
	if p.kept != nil {
		return p.playKept(ctx, free, emit)
	}
	for at := 0; at < p.line.output; {
		n, play := min(p.line.source, p.line.output-at), p.playForward
		if p.line.backward(at) {
			n, play = min(p.line.source-2, p.line.output-at), p.playBackward
		}
		if err := play(ctx, n, free, emit); err != nil {
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
		frame, err := free.get(ctx)
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

// playKept plays a source whose frames are kept.
func (p *player) playKept(ctx context.Context, free buffers, emit func(*image.YCbCr) error) error {
	for o := range p.line.output {
		if err := emitFrom(ctx, p.kept, p.line.at(o), free, emit); err != nil {
			return err
		}
	}
	return nil
}

// playBackward plays n source frames backward, beginning with the one before the last. It decodes the next stretch while it plays
// one.
func (p *player) playBackward(ctx context.Context, n int, free buffers, emit func(*image.YCbCr) error) error {
	// A stretch is received when the one before it has been played, so two are enough.
	var pair [2]*stretch
	for i := range pair {
		s, err := newStretch(p.dir)
		if err != nil {
			return err
		}
		defer s.close()
		pair[i] = s
	}
	full := make(chan *stretch)
	g, ctx := newGroup(ctx)
	g.Go(func() error {
		defer close(full)
		first := p.line.source - 1 - n
		for i, to := 0, p.line.source-1; to > first; i, to = i+1, to-p.most {
			s := pair[i%2]
			if err := p.decodeStretch(ctx, s, max(first, to-p.most), to); err != nil {
				return err
			}
			if err := send(ctx, full, s); err != nil {
				return err
			}
		}
		return nil
	})
	g.Go(func() error {
		for s := range full {
			for i := s.n - 1; i >= 0; i-- {
				if err := emitFrom(ctx, s, i, free, emit); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return g.Wait()
}

// emitFrom emits the i-th frame of a stretch.
func emitFrom(ctx context.Context, s *stretch, i int, free buffers, emit func(*image.YCbCr) error) error {
	frame, err := free.get(ctx)
	if err != nil {
		return err
	}
	if err := s.read(i, frame); err != nil {
		return err
	}
	return emit(frame)
}

// decodeStretch fills a stretch with the source frames from from to to-1. If a seek in the file leads to other frames than those of
// the first pass, it decodes from the beginning of the file. That is slow, but right.
func (p *player) decodeStretch(ctx context.Context, s *stretch, from, to int) error {
	s.n = to - from
	frames, err := p.tools.OpenFramesAt(ctx, p.video, from, to)
	if err != nil {
		return err
	}
	defer frames.Close()
	if ok, _ := p.fill(s, frames, from); ok || ctx.Err() != nil {
		return ctx.Err()
	}
	frames, err = p.tools.OpenFrames(ctx, p.video, to)
	if err != nil {
		return err
	}
	defer frames.Close()
	skipped := p.video.Video.NewFrame()
	for range from {
		if err := frames.Read(skipped); err != nil {
			return fmt.Errorf("decode video again: %w", err)
		}
	}
	if ok, err := p.fill(s, frames, from); !ok {
		return fmt.Errorf("source frames from %d changed between two reads: %w", from, err)
	}
	return nil
}

// fill reads a stretch, and tells whether its frames are those of the first pass.
func (p *player) fill(s *stretch, frames *ffmpeg.Frames, from int) (bool, error) {
	frame := p.video.Video.NewFrame()
	for i := range s.n {
		if err := frames.Read(frame); err != nil {
			return false, err
		}
		if sum(frame) != p.sums[from+i] {
			return false, nil
		}
		if err := s.write(i, frame); err != nil {
			return false, err
		}
	}
	return true, nil
}
