package footage

import (
	"context"
	"fmt"

	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render/blend"
	"lipsync/internal/render/flow"
)

// player reads the source's frames in the order of the output. If they were not kept, it decodes them again: forward as a stream,
// and backward one stretch at a time.
type player struct {
	Footage
	line Timeline
}

// newFrame returns a frame in the video's pixel format.
func newFrame(v *medium.Video) []byte { return make([]byte, v.FrameSize()) }

// Play calls emit with the pixels of each output frame from one on, each in a free buffer.
func (f Footage) Play(ctx context.Context, line Timeline, from int, free flow.Buffers[[]byte], emit func(frame []byte) error) error {
	p := &player{f, line}
	c := composer{video: p.Video.Video, line: p.line, free: free, emit: emit}
	if p.kept != nil {
		return c.emitAll(ctx, from, p.line.Frames, p.kept)
	}
	for from < p.line.Frames {
		to, backward := p.line.run(from)
		play := p.playForward
		if backward {
			play = p.playBackward
		}
		if err := play(ctx, c, from, to); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// pictures holds source frames. read fills a frame with the source frame of an index.
type pictures interface {
	read(source int, frame []byte) error
}

// composer makes output frames of source frames, and emits them.
type composer struct {
	video *medium.Video
	line  Timeline
	free  flow.Buffers[[]byte]
	emit  func(frame []byte) error
	next  []byte // buffer for a source frame that is mixed into another; nil before the first one
}

// emitAll emits the output frames in [from, to).
func (c *composer) emitAll(ctx context.Context, from, to int, p pictures) error {
	for o := from; o < to; o++ {
		frame, err := c.free.Get(ctx)
		if err != nil {
			return err
		}
		m := c.line.at(o)
		if err := p.read(m.source, frame); err != nil {
			return err
		}
		if m.next > 0 {
			if c.next == nil {
				c.next = newFrame(c.video)
			}
			if err := p.read(m.source+1, c.next); err != nil {
				return err
			}
			blend.MixFrames(frame, c.next, m.next, c.video.Pixels)
		}
		if err := c.emit(frame); err != nil {
			return err
		}
	}
	return nil
}

// stream decodes source frames in their order.
type stream struct {
	frames  ffmpeg.Frames
	decoded int // number of frames
	// last has the last decoded frames, one of even and one of odd number, to be read again. It is nil if no frame is
	// read again; then read decodes directly into its frame.
	last  *[2][]byte
	sums  []uint32 // those that the frames must have; nil: any
	video *medium.Video
}

func (s *stream) read(source int, frame []byte) error {
	for ; s.decoded <= source; s.decoded++ {
		to := frame
		if s.last != nil {
			to = s.last[s.decoded%2]
		}
		if err := s.frames.ReadPixels(to); err != nil {
			return fmt.Errorf("decode video again: %w", err)
		}
		if s.sums != nil && sum(to, s.video) != s.sums[s.decoded] {
			return fmt.Errorf("source frame %d is another one than before", s.decoded)
		}
	}
	if s.last != nil {
		copy(frame, s.last[source%2])
	}
	return nil
}

// playForward plays the output frames in [from, to), whose source frames don't descend.
func (p *player) playForward(ctx context.Context, c composer, from, to int) error {
	last := p.line.at(to - 1)
	most := last.source + 1
	if last.next > 0 {
		most++
	}
	v := p.Video.Video
	s := p.seek(ctx, p.line.at(from).source, most)
	if s == nil {
		frames, err := p.Media.OpenFrames(ctx, p.Video, most)
		if err != nil {
			return err
		}
		s = &stream{frames: frames, video: v}
		if p.Recalled {
			s.sums = p.Sums
		}
		if !p.line.shownOnce(from, to) {
			s.last = &[2][]byte{newFrame(v), newFrame(v)}
		}
	}
	defer s.frames.Close()
	return c.emitAll(ctx, from, to, s)
}

// seek returns a stream of the source frames in [first, most). It returns nil if these must be decoded from the beginning of the video on: because
// they are near to it, or because a seek in the file leads to another frame.
func (p *player) seek(ctx context.Context, first, most int) *stream {
	if first < p.longest() {
		return nil
	}
	frames, err := p.Media.OpenFramesAt(ctx, p.Video, first, most)
	if err != nil {
		return nil
	}
	v := p.Video.Video
	s := &stream{frames: frames, decoded: first + 1, last: &[2][]byte{newFrame(v), newFrame(v)}, sums: p.Sums, video: v}
	frame := s.last[first%2]
	if frames.ReadPixels(frame) != nil || sum(frame, v) != p.Sums[first] {
		frames.Close()
		return nil
	}
	return s
}

// playBackward plays the output frames in [from, to), whose source frames descend one by one. It decodes the next stretch while it
// plays one.
func (p *player) playBackward(ctx context.Context, c composer, from, to int) error {
	// A stretch is received when the one before it has been played, so two are enough.
	var pair [2]*stretch
	for i := range pair {
		s, err := newStretch(p.Dir)
		if err != nil {
			return err
		}
		defer s.close()
		pair[i] = s
	}
	full := make(chan *stretch)
	g, ctx := flow.NewGroup(ctx)
	g.Go(func() error {
		defer close(full)
		first := p.line.at(to - 1).source
		for i, end := 0, p.line.at(from).source+1; end > first; i, end = i+1, end-p.longest() {
			s := pair[i%2]
			if err := p.decodeStretch(ctx, s, max(first, end-p.longest()), end); err != nil {
				return err
			}
			if err := flow.Send(ctx, full, s); err != nil {
				return err
			}
		}
		return nil
	})
	g.Go(func() error {
		for s := range full {
			if err := c.emitAll(ctx, from, from+s.n, s); err != nil {
				return err
			}
			from += s.n
		}
		return nil
	})
	return g.Wait()
}

// decodeStretch fills a stretch with the source frames in [from, to). If a seek in the file leads to other frames than those of the
// first pass, it decodes from the first frame. That is slow, but right.
func (p *player) decodeStretch(ctx context.Context, s *stretch, from, to int) error {
	s.first, s.n = from, to-from
	frames, err := p.Media.OpenFramesAt(ctx, p.Video, from, to)
	if err != nil {
		return err
	}
	defer frames.Close()
	if ok, _ := p.fill(s, frames); ok || ctx.Err() != nil {
		return ctx.Err()
	}
	frames, err = p.Media.OpenFrames(ctx, p.Video, to)
	if err != nil {
		return err
	}
	defer frames.Close()
	skipped := newFrame(p.Video.Video)
	for range from {
		if err := frames.ReadPixels(skipped); err != nil {
			return fmt.Errorf("decode video again: %w", err)
		}
	}
	if ok, err := p.fill(s, frames); !ok {
		return fmt.Errorf("source frames from %d changed between two reads: %w", from, err)
	}
	return nil
}

// fill reads a stretch, and tells whether its frames are those of the first pass.
func (p *player) fill(s *stretch, frames ffmpeg.Frames) (bool, error) {
	frame := newFrame(p.Video.Video)
	for i := s.first; i < s.first+s.n; i++ {
		if err := frames.ReadPixels(frame); err != nil {
			return false, err
		}
		if sum(frame, p.Video.Video) != p.Sums[i] {
			return false, nil
		}
		if err := s.write(i, frame); err != nil {
			return false, err
		}
	}
	return true, nil
}
