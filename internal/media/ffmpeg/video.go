package ffmpeg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"os"

	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/media/sandbox"
)

// Frames are the frames of a video, one after the other.
type Frames interface {
	// Read fills a frame that NewFrame made with the next one, if the video's pixel format is YUV420P. After the last it returns io.EOF.
	Read(frame *image.YCbCr) error
	// ReadPixels fills a frame of the video's pixel format with the next one. After the last it returns io.EOF.
	ReadPixels(frame []byte) error
	// Close stops the decoder.
	Close()
}

// decoding decodes frames.
type decoding struct {
	p       *process
	colours *medium.Watch
	skip    int  // number of frames before the first one to return
	begun   bool // the stream's header has been read
	raw     bool // the stream is nothing except the frames
	done    bool
}

// OpenFrames starts to decode the video from its beginning, or from in.Begin, for at most most frames. If
// it seeks to in.Begin, it may fail as OpenFramesAt does.
func (t *Tools) OpenFrames(ctx context.Context, in *medium.Info, most int) (Frames, error) {
	first := in.First()
	if first > 0 && !in.NoSeek {
		return t.openFrames(ctx, in, medium.Span{From: first, To: first + most, Seek: true}, 0)
	}
	return t.openFrames(ctx, in, medium.Span{To: first + most}, first)
}

// OpenFramesAt starts to decode the frames numbered from from to to-1, as OpenFrames counts them. It is
// fast because it seeks. But if a file has no good index, or its times are wrong, it may return other
// frames, or none. The caller must check.
func (t *Tools) OpenFramesAt(ctx context.Context, in *medium.Info, from, to int) (Frames, error) {
	first := in.First()
	return t.openFrames(ctx, in, medium.Span{From: first + from, To: first + to, Seek: true}, 0)
}

// openFrames starts to decode the frames of a span, and skips the first ones.
func (t *Tools) openFrames(ctx context.Context, in *medium.Info, s medium.Span, skip int) (Frames, error) {
	// Encoding runs at the same time and takes five times as long. Fewer decoder threads mean less
	// overhead.
	p, theirs, err := newReader(ctx, t.FFmpeg, in.DecodeArgs(s, max(1, t.Threads/2)))
	if err != nil {
		return nil, err
	}
	colours := medium.NewWatch(in.Video, &p.stderr)
	p.cmd.Stderr = colours
	if p, err = p.start(t, sandbox.Files{Read: []string{in.Path}}, theirs, t.pictureMemory(in.Video)); err != nil {
		return nil, err
	}
	return &decoding{p: p, colours: colours, skip: skip, raw: in.Video.Raw()}, nil
}

// pictureMemory returns the memory limit of a process that decodes pictures, in bytes. The conversion of
// HDR needs the most: 190 bytes a pixel. The rest is for threads and for tables of the file.
func (t *Tools) pictureMemory(v *medium.Video) uint64 {
	const file, thread, pixel = 1 << 30, 24 << 20, 320
	return min(memorySize, file+thread*uint64(t.Threads)+pixel*uint64(v.Coded[0]*v.Coded[1]))
}

func (f *decoding) Read(frame *image.YCbCr) error { return f.ReadPixels(medium.Bytes(frame)) }

func (f *decoding) ReadPixels(frame []byte) error {
	for ; f.skip > 0; f.skip-- {
		if err := f.read(frame); err != nil {
			return err
		}
	}
	return f.read(frame)
}

func (f *decoding) read(frame []byte) error {
	err := f.next()
	if err == nil {
		if err = f.p.read(frame); err == io.EOF && !f.raw {
			err = io.ErrUnexpectedEOF
		}
	}
	if err == io.EOF {
		f.done = true
		if err := cmp.Or(f.p.wait(), f.colours.Err()); err != nil {
			return err
		}
		return io.EOF
	}
	if changed := f.colours.Err(); changed != nil {
		return changed
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		f.done = true
		err = f.p.late(err, stallTime)
	}
	if err == io.ErrUnexpectedEOF { // the decoder's error tells the reason
		f.done = true
		err = errors.Join(err, f.p.wait())
	}
	if err != nil {
		return fmt.Errorf("read frame: %w", err)
	}
	return nil
}

// next reads the line that precedes a picture in a stream of YUV4MPEG2. Before the first
// picture it skips another line, with the format, which Probe has found already.
func (f *decoding) next() error {
	if f.raw {
		return nil
	}
	const before = "FRAME\n"
	if !f.begun {
		if err := f.p.skipLine(256); err != nil {
			return err
		}
		f.begun = true
	}
	var line [len(before)]byte
	if err := f.p.read(line[:]); err != nil {
		return err
	}
	if string(line[:]) != before {
		return fmt.Errorf("got %q, want %q", line, before)
	}
	return nil
}

func (f *decoding) Close() {
	if !f.done {
		f.p.stop()
	}
	f.done = true
}
