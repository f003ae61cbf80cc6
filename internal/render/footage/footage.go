// Package footage has the frames of a video in time: it decodes them once for the first pass, keeps them or decodes them again, and plays them by the
// timeline of an output.
package footage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"io"
	"os"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render/blend"
	"lipsync/internal/render/flow"
)

// Media reads and writes the pictures of files.
type Media interface {
	// CountBits returns how many bits a second of a video's pictures has in at most a number of frames from its Begin on, as ffmpeg.CRFOf needs. It
	// returns 0 if the file doesn't tell.
	CountBits(ctx context.Context, in *medium.Info, most int) (bits float64, err error)
	// OpenFrames decodes a video from its Begin on, at most a number of frames.
	OpenFrames(ctx context.Context, in *medium.Info, most int) (ffmpeg.Frames, error)
	// OpenFramesAt decodes the frames in [from, to), counted from Begin on. They may be others, after a seek in a file that is odd.
	OpenFramesAt(ctx context.Context, in *medium.Info, from, to int) (ffmpeg.Frames, error)
	// Encode begins a file with pictures and, unless sound is "", with the sound of another file.
	Encode(ctx context.Context, v *medium.Video, o order.Output, sound, output string) (ffmpeg.Encoder, error)
}

// Source is the part of a video that an output may show.
type Source struct {
	Media Media
	Video *medium.Info
	Dir   string // for stretches
	most  int    // largest number of frames of a stretch, which tests set; 0: as many as StretchSize allows

	Expected int // number of frames, as the file states
	Needed   int // largest number of frames that the output may show
	Limit    int // largest number of frames to decode

	Output *order.Output // that the frames are for, and whose encoding a sample decides; nil if there is none

	Unkept  bool  // the frames are decoded again, however few they are
	TooMany error // why the frames can't be decoded from the beginning of the file, if they are part of a video that is too long for that
}

// Footage is what is known of the frames of a source. They are decoded for the first pass, and again for the second, unless they are so few
// that they are kept.
type Footage struct {
	Source
	Frames   int      // their number
	Sums     []uint32 // the checksum of each
	kept     *stretch // all frames; nil if they are too many
	Damaged  bool     // decoding failed after the frames that are needed
	CRF      int      // see sample
	Recalled bool     // the frames were not decoded: an earlier job found their number and their sums
}

// Decode sends what engines see of the frames, once. If a seek to the preview finds no frame, it decodes from the beginning of the file. The caller
// closes the footage, unless there is an error.
func (s Source) Decode(ctx context.Context, free flow.Buffers[*image.YCbCr], decoded chan<- *image.YCbCr) (f Footage, err error) {
	frames, err := s.Media.OpenFrames(ctx, s.Video, s.Limit)
	if err != nil {
		return f, err
	}
	defer frames.Close()
	f.Source = s
	if !s.Unkept && s.Expected <= s.longest() {
		f.kept, _ = newStretch(s.Dir) // if that fails, the frames are decoded again
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	sampled, err := newSample(ctx, s)
	if err != nil {
		return f, err
	}
	defer sampled.close()
	tones := blend.NewTones(s.Video.Video)
	var own []byte // a frame, if engines don't see it as it is
	if s.Video.Video.Pixels != medium.YUV420P {
		own = newFrame(s.Video.Video)
	}
	for n := 0; ; n++ {
		frame, err := free.Get(ctx)
		if err != nil {
			return f, err
		}
		pixels := own
		if own == nil {
			pixels = medium.Bytes(frame)
		}
		err = frames.ReadPixels(pixels)
		if err != nil && n == 0 && s.Video.Begin > 0 && !s.Video.NoSeek && ctx.Err() == nil && !ffmpeg.OfMachine(err) {
			frames.Close()
			f.Close()
			free.Put(frame)
			if s.TooMany != nil {
				return f, s.TooMany
			}
			whole := *s.Video
			whole.NoSeek = true
			s.Video = &whole
			return s.Decode(ctx, free, decoded)
		}
		switch {
		case err == io.EOF && n == 0 && s.Video.Begin > 0:
			return f, ffmpeg.AfterEnd(failure.Video)
		case err == io.EOF && n > 0:
			f.Frames = n
			if f.CRF, err = sampled.finish(); err != nil {
				return f, err
			}
			return f, s.whole(n)
		case err != nil && n >= s.Needed && ctx.Err() == nil:
			f.Frames, f.Damaged = n, true
			f.CRF, err = sampled.finish()
			return f, err
		case err != nil && (n == 0 || errors.As(err, new(medium.ColoursError))) && ctx.Err() == nil:
			return f, ffmpeg.Unsupported(failure.Video, err)
		case err != nil:
			return f, fmt.Errorf("decode video: %w", err)
		}
		f.keep(n, pixels)
		if err := sampled.add(ctx, n, pixels); err != nil {
			return f, err
		}
		if own != nil {
			tones.See(frame, s.Video.Video, own)
		}
		if err := flow.Send(ctx, decoded, frame); err != nil {
			return f, err
		}
	}
}

// longest returns the largest number of frames of a stretch.
func (s Source) longest() int { return cmp.Or(s.most, max(1, StretchSize/s.Video.Video.FrameSize())) }

// whole returns an error if the file states far more frames than it has, which are n, of those that are needed: if a
// quarter of them is missing, and half a second. A whole file may state a few more. Lengths are rounded; and if it was
// cut out of a longer video, its first group of pictures may lack its beginning, and can't be decoded.
func (s Source) whole(n int) error {
	v := s.Video.Video
	stated := min(int((v.Stated-s.Video.Begin).Seconds()*v.Rate.Float()), s.Needed)
	missing := stated - n
	if 4*missing < stated || 2*float64(missing) < v.Rate.Float() {
		return nil
	}
	f := failure.Failure{Code: failure.MediaTruncated, Details: failure.Details{Kind: failure.Video}}
	f.Value.Seconds, f.Stated.Seconds = s.Video.Begin.Seconds()+float64(n)/v.Rate.Float(), v.Stated.Seconds()
	return f.Because(nil)
}

// keep writes a frame to the stretch, as long as all frames fit in it and on the disk. Otherwise they are decoded again. The
// checksum of the frame is always kept, since a later frame may not fit.
func (f *Footage) keep(n int, frame []byte) {
	f.Sums = append(f.Sums, sum(frame, f.Video.Video))
	if f.kept == nil {
		return
	}
	if n == f.longest() || f.kept.write(n, frame) != nil {
		f.Close()
		return
	}
	f.kept.n = n + 1
}

// Close removes the frames that are kept.
func (f *Footage) Close() {
	if f.kept != nil {
		f.kept.close()
		f.kept = nil
	}
}

// sumRows is the distance of the rows that the checksum of a frame includes. They differ in any two pictures of a video that
// differ by more than noise.
const sumRows = 8

// sum returns a checksum (CRC-32C) of some rows of a frame's luma.
func sum(frame []byte, v *medium.Video) (s uint32) {
	table := crc32.MakeTable(crc32.Castagnoli)
	row := v.Width
	if v.Pixels.Deep() {
		row *= 2
	}
	for y := 0; y < v.Height; y += sumRows {
		s = crc32.Update(s, table, frame[y*row:(y+1)*row])
	}
	return s
}

// StretchSize bounds the file of a stretch, in bytes. It holds some seconds of frames. Decoding a stretch begins at the key frame
// before it; in a much shorter stretch that would be most of the work.
const StretchSize = 512 << 20

// stretch holds consecutive source frames in a temporary file, since they would take too much memory.
type stretch struct {
	file  *os.File
	first int // its first source frame
	n     int // number of frames
}

func newStretch(dir string) (*stretch, error) {
	f, err := flow.Scratch(dir)
	return &stretch{file: f}, err
}

// write writes a source frame.
func (s *stretch) write(source int, frame []byte) error {
	_, err := s.file.WriteAt(frame, int64(source-s.first)*int64(len(frame)))
	return err
}

// read fills the frame with a source frame of the stretch.
func (s *stretch) read(source int, frame []byte) error {
	_, err := s.file.ReadAt(frame, int64(source-s.first)*int64(len(frame)))
	return err
}

func (s *stretch) close() { _ = s.file.Close() }
