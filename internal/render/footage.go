package render

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
)

// pictures reads and writes the pictures of files.
type pictures interface {
	// CountBits returns how many bits a second of a video's pictures has in at most a number of frames from its Begin on, as Video.CRFOf needs. It
	// returns 0 if the file doesn't tell.
	CountBits(ctx context.Context, in *ffmpeg.Info, most int) (bits float64, err error)
	// OpenFrames decodes a video from its Begin on, at most a number of frames.
	OpenFrames(ctx context.Context, in *ffmpeg.Info, most int) (ffmpeg.Frames, error)
	// OpenFramesAt decodes the frames in [from, to), counted from Begin on. They may be others, after a seek in a file that is odd.
	OpenFramesAt(ctx context.Context, in *ffmpeg.Info, from, to int) (ffmpeg.Frames, error)
	// Encode begins a file with pictures and, unless sound is "", with the sound of another file.
	Encode(ctx context.Context, v *ffmpeg.Video, o order.Output, sound, output string) (ffmpeg.Encoder, error)
}

// source is the part of a video that an output may show.
type source struct {
	media pictures
	video *ffmpeg.Info
	dir   string // for stretches
	most  int    // largest number of frames of a stretch; 0: as many as stretchSize allows

	expected int // number of frames, as the file states
	needed   int // largest number of frames that the output may show
	limit    int // largest number of frames to decode

	output *order.Output // that the frames are for, and whose encoding a sample decides; nil if there is none

	crowded bool  // whether the disk has no space to keep all frames
	tooMany error // why the frames can't be decoded from the beginning of the file, if they are part of a video that is too long for that
}

// footage is what is known of the frames of a source. They are decoded for the first pass, and again for the second, unless they are so few
// that they are kept.
type footage struct {
	source
	frames   int      // their number
	sums     []uint32 // the checksum of each
	kept     *stretch // all frames; nil if they are too many
	damaged  bool     // decoding failed after the frames that are needed
	crf      int      // see sample
	recalled bool     // the frames were not decoded: an earlier job found their number and their sums
}

// decode sends what engines see of the frames, once. If a seek to the preview finds no frame, it decodes from the beginning of the file. The caller
// closes the footage, unless there is an error.
func (s source) decode(ctx context.Context, free buffers[*image.YCbCr], decoded chan<- *image.YCbCr) (f footage, err error) {
	frames, err := s.media.OpenFrames(ctx, s.video, s.limit)
	if err != nil {
		return f, err
	}
	defer frames.Close()
	f.source = s
	if !s.crowded && s.expected <= s.longest() {
		f.kept, _ = newStretch(s.dir) // if that fails, the frames are decoded again
	}
	defer func() {
		if err != nil {
			f.close()
		}
	}()
	sampled, err := newSample(ctx, s)
	if err != nil {
		return f, err
	}
	defer sampled.close()
	tones := newTones(s.video.Video)
	var own []byte // a frame, if engines don't see it as it is
	if s.video.Video.Pixels != ffmpeg.YUV420P {
		own = newFrame(s.video.Video)
	}
	for n := 0; ; n++ {
		frame, err := free.get(ctx)
		if err != nil {
			return f, err
		}
		pixels := own
		if own == nil {
			pixels = ffmpeg.Bytes(frame)
		}
		err = frames.ReadPixels(pixels)
		if err != nil && n == 0 && s.video.Begin > 0 && !s.video.NoSeek && ctx.Err() == nil && !ffmpeg.OfMachine(err) {
			frames.Close()
			f.close()
			free.put(frame)
			if s.tooMany != nil {
				return f, s.tooMany
			}
			whole := *s.video
			whole.NoSeek = true
			s.video = &whole
			return s.decode(ctx, free, decoded)
		}
		switch {
		case err == io.EOF && n == 0 && s.video.Begin > 0:
			return f, ffmpeg.AfterEnd(failure.Video)
		case err == io.EOF && n > 0:
			f.frames = n
			if f.crf, err = sampled.finish(); err != nil {
				return f, err
			}
			return f, s.whole(n)
		case err != nil && n >= s.needed && ctx.Err() == nil:
			f.frames, f.damaged = n, true
			f.crf, err = sampled.finish()
			return f, err
		case err != nil && (n == 0 || errors.As(err, new(ffmpeg.ColoursError))) && ctx.Err() == nil:
			return f, ffmpeg.Unsupported(failure.Video, err)
		case err != nil:
			return f, fmt.Errorf("decode video: %w", err)
		}
		f.keep(n, pixels)
		if err := sampled.add(ctx, n, pixels); err != nil {
			return f, err
		}
		if own != nil {
			tones.see(frame, s.video.Video, own)
		}
		if err := send(ctx, decoded, frame); err != nil {
			return f, err
		}
	}
}

// longest returns the largest number of frames of a stretch.
func (s source) longest() int { return cmp.Or(s.most, max(1, stretchSize/s.video.Video.FrameSize())) }

// whole returns an error if the file states far more frames than it has, which are n, of those that are needed: if a
// quarter of them is missing, and half a second. A whole file may state a few more. Lengths are rounded; and if it was
// cut out of a longer video, its first group of pictures may lack its beginning, and can't be decoded.
func (s source) whole(n int) error {
	v := s.video.Video
	stated := min(int((v.Stated-s.video.Begin).Seconds()*v.Rate.Float()), s.needed)
	missing := stated - n
	if 4*missing < stated || 2*float64(missing) < v.Rate.Float() {
		return nil
	}
	f := failure.Failure{Code: failure.MediaTruncated, Details: failure.Details{Kind: failure.Video}}
	f.Value.Seconds, f.Stated.Seconds = s.video.Begin.Seconds()+float64(n)/v.Rate.Float(), v.Stated.Seconds()
	return f.Because(nil)
}

// keep writes a frame to the stretch, as long as all frames fit in it and on the disk. Otherwise they are decoded again. The
// checksum of the frame is always kept, since a later frame may not fit.
func (f *footage) keep(n int, frame []byte) {
	f.sums = append(f.sums, sum(frame, f.video.Video))
	if f.kept == nil {
		return
	}
	if n == f.longest() || f.kept.write(n, frame) != nil {
		f.close()
		return
	}
	f.kept.n = n + 1
}

// close removes the frames that are kept.
func (f *footage) close() {
	if f.kept != nil {
		f.kept.close()
		f.kept = nil
	}
}

// sumRows is the distance of the rows that the checksum of a frame includes. They differ in any two pictures of a video that
// differ by more than noise.
const sumRows = 8

// sum returns a checksum (CRC-32C) of some rows of a frame's luma.
func sum(frame []byte, v *ffmpeg.Video) (s uint32) {
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

// stretchSize bounds the file of a stretch, in bytes. It holds some seconds of frames. Decoding a stretch begins at the key frame
// before it; in a much shorter stretch that would be most of the work.
const stretchSize = 512 << 20

// stretch holds consecutive source frames in a temporary file, since they would take too much memory.
type stretch struct {
	file  *os.File
	first int // its first source frame
	n     int // number of frames
}

func newStretch(dir string) (*stretch, error) {
	f, err := newScratch(dir)
	return &stretch{file: f}, err
}

// newScratch returns an empty file for what would take too much memory. It exists until it is closed.
func newScratch(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "scratch-")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
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
