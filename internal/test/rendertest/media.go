// Package rendertest has a twin of ffmpeg's tools, for tests of rendering that judge no codec. Its files have raw pictures and samples, and it
// starts no process.
package rendertest

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"os"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
)

// Media reads and writes files of a Clip each, as render.Media does. It scales no pictures and mixes no sound.
type Media struct{}

// Clip is the content of a file.
type Clip struct {
	Width, Height int
	Rate          medium.Rate
	Frames        [][]byte // in YUV420P; none: a file of sound
	Samples       []int16  // at ffmpeg.PCMRate; none: a file without sound
	Unstated      bool     // the file doesn't state its length
	Still         bool     // the file is a picture
}

// Write writes a file.
func (c Clip) Write(path string) error {
	var b bytes.Buffer
	if err := c.writeTo(&b); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o600)
}

func (c Clip) writeTo(w io.Writer) error { return gob.NewEncoder(w).Encode(c) }

func read(path string) (c Clip, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	if gob.NewDecoder(bytes.NewReader(b)).Decode(&c) != nil {
		return c, fmt.Errorf("%s is no clip: %w", path, medium.ErrUnsupported)
	}
	return c, nil
}

func (Media) Probe(_ context.Context, path string) (*medium.Info, error) {
	c, err := read(path)
	if err != nil {
		return nil, err
	}
	in := &medium.Info{Path: path, Still: c.Still}
	if len(c.Samples) > 0 {
		in.Audio = &medium.Audio{SampleRate: ffmpeg.PCMRate, Channels: 1}
		in.Duration = duration(len(c.Samples))
	}
	if len(c.Frames) > 0 {
		in.Video = &medium.Video{Width: c.Width, Height: c.Height, Rate: c.Rate}
		if !c.Still {
			in.Video.Stated = time.Duration(float64(len(c.Frames)) / c.Rate.Float() * float64(time.Second))
		}
		in.Duration = max(in.Duration, in.Video.Stated)
	}
	if c.Unstated {
		in.Duration = 0
		if in.Video != nil {
			in.Video.Stated = 0
		}
	}
	return in, nil
}

func (Media) OpenFrames(_ context.Context, in *medium.Info, most int) (ffmpeg.Frames, error) {
	return open(in, 0, most)
}

func (Media) OpenFramesAt(_ context.Context, in *medium.Info, from, to int) (ffmpeg.Frames, error) {
	return open(in, from, to)
}

// open returns the frames in [from, to), counted from in.Begin on.
func open(in *medium.Info, from, to int) (ffmpeg.Frames, error) {
	c, err := read(in.Path)
	if err != nil {
		return nil, err
	}
	v := in.Video
	if v.Width != c.Width || v.Height != c.Height || v.Pixels != medium.YUV420P {
		return nil, fmt.Errorf("%d × %d pixels as %d × %d in %s: %w", c.Width, c.Height, v.Width, v.Height, v.Pixels, errors.ErrUnsupported)
	}
	f := &frames{}
	first, all := in.First(), int(math.Round(float64(len(c.Frames))/c.Rate.Float()*v.Rate.Float()))
	for n := first + from; n < min(first+to, all); n++ {
		f.left = append(f.left, c.Frames[min(shown(n, v.Rate, c.Rate), len(c.Frames)-1)])
	}
	return f, nil
}

// shown returns the number of the frame of a file that is shown in frame n of another rate: the last whose rounded time has come.
func shown(n int, rate, file medium.Rate) int {
	const exact = 1e-6 // less than that is an error of floating point
	return int(math.Ceil((float64(n)+.5)/rate.Float()*file.Float()-exact)) - 1
}

// frames are the frames that are left.
type frames struct{ left [][]byte }

func (f *frames) Read(frame *image.YCbCr) error { return f.ReadPixels(medium.Bytes(frame)) }

func (f *frames) ReadPixels(frame []byte) error {
	if len(f.left) == 0 {
		return io.EOF
	}
	copy(frame, f.left[0])
	f.left = f.left[1:]
	return nil
}

func (f *frames) Close() {}

// duration returns the length of a number of samples.
func duration(samples int) time.Duration {
	return time.Duration(samples) * time.Second / ffmpeg.PCMRate
}

// count returns the number of samples in a time.
func count(length time.Duration) int { return int(length.Seconds() * ffmpeg.PCMRate) }

// soundOf returns the samples of a file from in.Begin on, at most for a time.
func soundOf(in *medium.Info, most time.Duration) ([]int16, error) {
	c, err := read(in.Path)
	if err != nil {
		return nil, err
	}
	samples := c.Samples[min(count(in.Begin), len(c.Samples)):]
	return samples[:min(count(most), len(samples))], nil
}

func (Media) OpenSound(_ context.Context, in *medium.Info, most time.Duration) (io.ReadCloser, error) {
	samples, err := soundOf(in, most)
	return io.NopCloser(bytes.NewReader(pcmOf(samples))), err
}

func pcmOf(samples []int16) []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, samples) // a buffer takes all
	return b.Bytes()
}

func (Media) Samples(_ context.Context, in *medium.Info, pcm, sound io.Writer, most time.Duration) (int64, error) {
	samples, err := soundOf(in, most)
	if err != nil {
		return 0, err
	}
	_, err = pcm.Write(pcmOf(samples))
	return int64(len(samples)), errors.Join(err, Clip{Samples: samples}.writeTo(sound))
}

func (Media) Fit(sound string, length time.Duration) error {
	c, err := read(sound)
	if err != nil {
		return err
	}
	n := count(length)
	c.Samples = append(c.Samples[:min(n, len(c.Samples))], make([]int16, max(0, n-len(c.Samples)))...)
	return c.Write(sound)
}

func (Media) EncodeSound(_ context.Context, _ order.Output, sound, encoded string) error {
	c, err := read(sound)
	if err != nil {
		return err
	}
	return c.Write(encoded)
}

func (Media) Place(context.Context, *ffmpeg.Assembly, ffmpeg.Piece) (time.Duration, error) {
	return 0, errors.ErrUnsupported
}

func (Media) Mix(context.Context, ffmpeg.Mix, string, string) error { return errors.ErrUnsupported }

func (Media) CheckOutput(context.Context, order.Output) error { return nil }

func (Media) Encode(_ context.Context, v *medium.Video, _ order.Output, sound, output string) (ffmpeg.Encoder, error) {
	e := &encoder{Clip{Width: v.Width, Height: v.Height, Rate: v.Rate}, output}
	if sound != "" {
		c, err := read(sound)
		if err != nil {
			return nil, err
		}
		e.clip.Samples = c.Samples
	}
	return e, nil
}

// encoder collects frames.
type encoder struct {
	clip   Clip
	output string
}

func (e *encoder) Write(frame *image.YCbCr) error { return e.WritePixels(medium.Bytes(frame)) }

func (e *encoder) WritePixels(frame []byte) error {
	e.clip.Frames = append(e.clip.Frames, bytes.Clone(frame))
	return nil
}

func (e *encoder) Finish() error { return e.clip.Write(e.output) }

func (e *encoder) Abort() {}

func (Media) TakeReel(_ context.Context, _ *medium.Video, _ order.Output, from, to string) error {
	c, err := read(from)
	if err != nil {
		return err
	}
	c.Samples = nil
	return c.Write(to)
}

func (Media) Join(_ context.Context, _ *medium.Video, _ order.Output, reels []ffmpeg.Reel, sound, output string) error {
	joined, err := read(sound)
	if err != nil {
		return err
	}
	for _, r := range reels {
		c, err := read(r.Path)
		if err != nil {
			return err
		}
		if len(c.Frames) != r.Frames {
			return fmt.Errorf("%s has %d frames, want %d", r.Path, len(c.Frames), r.Frames)
		}
		joined.Width, joined.Height, joined.Rate = c.Width, c.Height, c.Rate
		joined.Frames = append(joined.Frames, c.Frames...)
	}
	return joined.Write(output)
}

func (Media) Prove(_ context.Context, v *medium.Video, _ order.Output, want ffmpeg.Proof, path string) error {
	c, err := read(path)
	if err == nil && (len(c.Frames) != want.Frames || len(c.Samples) != count(want.Sound) || c.Rate != v.Rate) {
		err = fmt.Errorf("%w: %d frames and %d samples", ffmpeg.ErrUnproved, len(c.Frames), len(c.Samples))
	}
	return err
}

// CountBits finds out nothing.
func (Media) CountBits(context.Context, *medium.Info, int) (bits float64, err error) { return 0, nil }

func (Media) Encoding(*medium.Video, order.Output) (string, error) {
	return "raw", nil
}
