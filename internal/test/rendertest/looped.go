package rendertest

import (
	"context"
	"image"
	"io"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
)

// Looped is Media whose files play over and over. Their content is read once, and outputs are counted and not kept. So a medium of hours takes the
// memory of one loop.
type Looped struct {
	Media
	Times int
}

func (l Looped) Probe(ctx context.Context, path string) (*medium.Info, error) {
	in, err := l.Media.Probe(ctx, path)
	if err != nil {
		return nil, err
	}
	in.Duration *= time.Duration(l.Times)
	if in.Video != nil {
		in.Video.Stated *= time.Duration(l.Times)
	}
	return in, nil
}

func (l Looped) OpenFrames(ctx context.Context, in *medium.Info, most int) (ffmpeg.Frames, error) {
	return l.OpenFramesAt(ctx, in, 0, most)
}

func (l Looped) OpenFramesAt(_ context.Context, in *medium.Info, from, to int) (ffmpeg.Frames, error) {
	c, err := read(in.Path)
	if err != nil {
		return nil, err
	}
	return &loopedFrames{c.Frames, from, min(to, l.Times*len(c.Frames))}, nil
}

// loopedFrames are the frames in [next, end) of those that play over and over.
type loopedFrames struct {
	loop      [][]byte
	next, end int
}

func (f *loopedFrames) Read(frame *image.YCbCr) error { return f.ReadPixels(medium.Bytes(frame)) }

func (f *loopedFrames) ReadPixels(frame []byte) error {
	if f.next >= f.end {
		return io.EOF
	}
	copy(frame, f.loop[f.next%len(f.loop)])
	f.next++
	return nil
}

func (*loopedFrames) Close() {}

func (l Looped) OpenSound(_ context.Context, in *medium.Info, most time.Duration) (io.ReadCloser, error) {
	c, err := read(in.Path)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(&loopedSound{pcmOf(c.Samples), 0, 2 * min(l.Times*len(c.Samples), count(most))}), nil
}

// loopedSound is the bytes in [next, end) of those that play over and over.
type loopedSound struct {
	loop      []byte
	next, end int
}

func (s *loopedSound) Read(b []byte) (int, error) {
	if s.next >= s.end {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), s.end-s.next)], s.loop[s.next%len(s.loop):])
	s.next += n
	return n, nil
}

func (l Looped) Samples(ctx context.Context, in *medium.Info, pcm, _ io.Writer, most time.Duration) (int64, error) {
	sound, err := l.OpenSound(ctx, in, most)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(pcm, sound)
	return n / 2, err
}

func (Looped) Fit(string, time.Duration) error { return nil }

func (Looped) EncodeSound(context.Context, order.Output, string, string) error { return nil }

func (Looped) Encode(context.Context, *medium.Video, order.Output, string, string) (ffmpeg.Encoder, error) {
	return &counter{}, nil
}

// counter counts frames.
type counter struct{ frames int }

func (c *counter) Write(*image.YCbCr) error { return c.WritePixels(nil) }

func (c *counter) WritePixels([]byte) error {
	c.frames++
	return nil
}

func (c *counter) Finish() error { return nil }

func (c *counter) Abort() {}

func (Looped) Prove(context.Context, *medium.Video, order.Output, ffmpeg.Proof, string) error {
	return nil
}
