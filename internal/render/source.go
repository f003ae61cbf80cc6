package render

import (
	"context"
	"fmt"
	"hash/crc32"
	"image"
	"io"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/media/ffmpeg"
)

// source holds the frames of the video that the output may show. They are decoded for the first
// pass, and again for the second, unless they are so few that they are kept.
type source struct {
	tools *ffmpeg.Tools
	video *ffmpeg.Info
	tones *tones // of a video whose frames have 10 bits; otherwise nil
	dir   string // for stretches
	most  int    // largest number of frames of a stretch

	expected int      // number of frames, as the file states
	needed   int      // largest number of frames that the output may show
	frames   int      // at first the largest number of frames to decode; after decode, their number
	damaged  bool     // decoding failed after the frames that are needed
	recalled bool     // the frames were not decoded: an earlier job found their number and their sums
	kept     *stretch // all frames; nil if they are too many
	sums     []uint32 // the checksum of each frame
}

func newSource(w *rendering) *source {
	v := w.video.Video
	s := &source{tools: w.Tools, video: w.video, dir: w.dir, expected: w.expected(), needed: w.most(), frames: w.limit(),
		most: max(1, stretchSize/v.FrameSize())}
	if v.Pixels.Deep() {
		s.tones = newTones(v.Transfer())
	}
	return s
}

// decode sends what engines see of the frames, once. If a seek to the preview finds no frame, it decodes from the beginning of the file.
func (s *source) decode(ctx context.Context, free buffers[*image.YCbCr], decoded chan<- *image.YCbCr) (err error) {
	frames, err := s.tools.OpenFrames(ctx, s.video, s.frames)
	if err != nil {
		return err
	}
	defer frames.Close()
	if s.expected <= s.most && s.kept == nil {
		s.kept, _ = newStretch(s.dir) // if that fails, the frames are decoded again
	}
	var own []byte // a frame, if engines don't see it as it is
	if s.video.Video.Pixels != ffmpeg.YUV420P {
		own = newFrame(s.video.Video)
	}
	for n := 0; ; n++ {
		frame, err := free.get(ctx)
		if err != nil {
			return err
		}
		pixels := own
		if own == nil {
			pixels = ffmpeg.Bytes(frame)
		}
		err = frames.ReadPixels(pixels)
		if err != nil && n == 0 && s.video.Begin > 0 && !s.video.NoSeek && ctx.Err() == nil && !ffmpeg.OfMachine(err) {
			frames.Close()
			free.put(frame)
			s.video.NoSeek = true
			return s.decode(ctx, free, decoded)
		}
		switch {
		case err == io.EOF && n == 0 && s.video.Begin > 0:
			return afterEnd(lipsync.Video)
		case err == io.EOF && n > 0:
			s.frames = n
			return s.whole(s.needed)
		case err != nil && n >= s.needed && ctx.Err() == nil:
			s.frames, s.damaged = n, true
			return nil
		case err != nil && n == 0 && ctx.Err() == nil:
			return unsupported(lipsync.Video, err)
		case err != nil:
			return fmt.Errorf("decode video: %w", err)
		}
		s.keep(n, pixels)
		if own != nil {
			s.tones.see(frame, s.video.Video, own)
		}
		if err := send(ctx, decoded, frame); err != nil {
			return err
		}
	}
}

// whole returns an error if the file states far more frames than it has, of the first most frames:
// if a quarter of them is missing, and half a second. A whole file may state a few more. Lengths are
// rounded; and if it was cut out of a longer video, its first group of pictures may lack its
// beginning, and can't be decoded.
func (s *source) whole(most int) error {
	v := s.video.Video
	stated := min(int((v.Stated-s.video.Begin).Seconds()*v.Rate.Float()), most)
	missing := stated - s.frames
	if 4*missing < stated || 2*float64(missing) < v.Rate.Float() {
		return nil
	}
	f := lipsync.Failure{Code: lipsync.MediaTruncated, Details: lipsync.Details{Kind: lipsync.Video}}
	f.Value.Seconds, f.Stated.Seconds = s.video.Begin.Seconds()+float64(s.frames)/v.Rate.Float(), v.Stated.Seconds()
	return f.Because(nil)
}

// keep writes a frame to the stretch, as long as all frames fit in it and on the disk. Otherwise they are decoded again. The
// checksum of the frame is always kept, since a later frame may not fit.
func (s *source) keep(n int, frame []byte) {
	s.sums = append(s.sums, sum(frame, s.video.Video))
	if s.kept == nil {
		return
	}
	if n == s.most || s.kept.write(n, frame) != nil {
		s.close()
		return
	}
	s.kept.n = n + 1
}

// close removes the frames that are kept.
func (s *source) close() {
	if s.kept != nil {
		s.kept.close()
		s.kept = nil
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
