package ffmpeg

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strconv"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/media/sandbox"
)

// Encoder writes frames and sound as a video.
type Encoder interface {
	// Write adds a frame that NewFrame made, if the video's pixel format is YUV420P.
	Write(frame *image.YCbCr) error
	// WritePixels adds a frame of the video's pixel format.
	WritePixels(frame []byte) error
	// Finish completes the file and moves it to the output path.
	Finish() error
	// Abort ends the encoder and leaves no file.
	Abort()
}

// encoding is an Encoder.
type encoding struct {
	p            *process
	part, output string
	gpu          *gpu // that encodes; nil: the CPU does
}

// Encode starts to write a video of the size and rate of v, in the format and quality of o, to the path
// output. sound is a file that Samples or Mix wrote, or "" for no sound. The file exists only after Finish.
func (t *Tools) Encode(ctx context.Context, v *medium.Video, o order.Output, sound, output string) (Encoder, error) {
	e := &encoding{part: output + ".part", output: output}
	args, err := encodeArgs(t, v, o, sound, e.part)
	if err != nil {
		return nil, err
	}
	files := sandbox.Files{Write: []string{e.part}}
	if sound != "" {
		files.Read = []string{sound}
	}
	if t.onGPU(v, o) {
		e.gpu, files = t.gpu, files.And(t.gpu.files)
	}
	e.p, err = t.startWriter(ctx, t.FFmpeg, args, files)
	if err != nil {
		return nil, errors.Join(err, e.discard())
	}
	return e, nil
}

func (e *encoding) Write(frame *image.YCbCr) error { return e.WritePixels(medium.Bytes(frame)) }

func (e *encoding) WritePixels(frame []byte) error {
	if _, err := e.p.Write(frame); err != nil {
		// The encoder's own error says more.
		return fmt.Errorf("write frame: %w", e.blame(errors.Join(err, e.p.wait())))
	}
	return nil
}

func (e *encoding) Finish() error {
	err := e.blame(e.p.wait())
	if err == nil {
		err = os.Rename(e.part, e.output)
	}
	return errors.Join(err, e.discard())
}

// blame adds ErrGPU to the error of a GPU's encoder that wrote nothing: it did not start. This file
// is lost, since the pieces of an output are encoded alike.
func (e *encoding) blame(err error) error {
	if err == nil || e.gpu == nil || e.p.ctx.Err() != nil || OfMachine(err) || e.p.stderr.unwritten() != nil {
		return err
	}
	if part, statErr := os.Stat(e.part); statErr != nil || part.Size() > 0 {
		return err
	}
	e.gpu.stopEncoding(err)
	return fmt.Errorf("%w: %w", ErrGPU, err)
}

func (e *encoding) Abort() {
	e.p.stop()
	_ = e.discard()
}

func (e *encoding) discard() error {
	if err := os.Remove(e.part); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func encodeArgs(t *Tools, v *medium.Video, o order.Output, sound, output string) ([]string, error) {
	args := []string{"-v", "error", "-protocol_whitelist", "file,pipe",
		"-f", "rawvideo", "-pix_fmt", v.Pixels.String(), "-s", fmt.Sprintf("%dx%d", v.Width, v.Height),
		"-r", v.Rate.String(), "-thread_queue_size", "2", "-i", "pipe:0"}
	pictures := []string{"-map", "0:v", "-vf", v.Tags()}
	if sound != "" {
		a, err := soundOf(sound, o.Format)
		if err != nil {
			return nil, err
		}
		args = append(args, wavInput(sound)...)
		pictures = append(append(pictures, "-map", "1:a"), SoundArgs(a)...)
	}
	args = append(args, pictures...)
	args = append(args, t.EncoderArgs(v, o)...)
	return append(args, outputArgs(o, output)...), nil
}

// outputArgs returns the arguments that write an output.
func outputArgs(o order.Output, path string) []string {
	var args []string
	if o.Format != order.WebM {
		args = append(args, "-movflags", "+faststart")
	}
	return append(args, "-map_metadata", "-1", "-f", o.Format.String(), "-y", "file:"+path)
}

// demuxer returns ffmpeg's name of the demuxer of files of a format.
func demuxer(f order.Format) string {
	if f == order.WebM {
		return "matroska"
	}
	return "mov"
}

// These are the sides of the smallest and the largest pictures that NVIDIA's encoder gets, in pixels.
// It refuses others: users report least sizes of 145 × 49 and 145 × 145, and NVIDIA 4096 × 4096 as
// the largest of H.264. make gpu-check checks the smallest.
const (
	leastOnGPU = 160
	mostOnGPU  = 4096
)

// onGPU reports whether a GPU encodes frames of v for the output o.
func (t *Tools) onGPU(v *medium.Video, o order.Output) bool {
	return t.Encodes() && o.VideoCodec() == order.H264 && o.Quality <= order.High &&
		min(v.Width, v.Height) >= leastOnGPU && max(v.Width, v.Height) <= mostOnGPU
}

// Encoding returns a text of what decides how frames of v are encoded: ffmpeg's arguments, and which file it is. It starts no program, so shared
// libraries that are exchanged under the same ffmpeg don't change it.
func (t *Tools) Encoding(v *medium.Video, o order.Output) (string, error) {
	path, err := filepath.EvalSymlinks(t.FFmpeg)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotRun, err)
	}
	program, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotRun, err)
	}
	return fmt.Sprintf("encoder %q, by %s of %d bytes from %s", t.EncoderArgs(v, o), path, program.Size(), program.ModTime().UTC()), nil
}

// EncoderArgs returns ffmpeg's arguments that select the encoder of o for frames of v, and its quality.
func (t *Tools) EncoderArgs(v *medium.Video, o order.Output) []string {
	threads, quality := strconv.Itoa(t.Threads), strconv.Itoa(qualityOf(v, o))
	switch o.VideoCodec() {
	case order.HEVC:
		// cutree=0, as mbtree=0 below. Moreover, x265 3.5 writes past the end of a buffer with it.
		return []string{"-c:v", "libx265", "-preset", "fast", "-crf", quality,
			"-x265-params", "log-level=error:cutree=0:pools=" + threads + ":ctu=" + strconv.Itoa(block(v)) + v.MasteringParams(),
			"-tag:v", "hvc1"} // Apple's players take no other tag
	case order.VP9:
		args := []string{"-c:v", "libvpx-vp9", "-deadline", "good", "-cpu-used", "4", "-row-mt", "1", "-crf", quality, "-b:v", "0", "-threads", threads}
		if v.Pixels.Alpha() { // its pictures must correspond to those of the colours, so none may be hidden
			args = append(args, "-auto-alt-ref", "0")
		}
		return args
	case order.ProRes:
		if v.Pixels.Alpha() {
			return []string{"-c:v", "prores_ks", "-profile:v", "4444", "-alpha_bits", "16", "-pix_fmt", "yuva444p10le", "-vendor", "apl0", "-threads", threads}
		}
		return []string{"-c:v", "prores_ks", "-profile:v", quality, "-pix_fmt", "yuv422p10le", "-vendor", "apl0", "-threads", threads}
	}
	if t.onGPU(v, o) {
		cq := strconv.Itoa(qualityOf(v, o) + 2) // about the quality of libx264 below
		return []string{"-c:v", "h264_nvenc", "-profile:v", "high", "-preset", "p5", "-tune", "hq", "-rc", "vbr", "-cq", cq, "-b:v", "0", "-spatial_aq", "1"}
	}
	return []string{"-c:v", "libx264", "-profile:v", "high",
		// As close to the source as the default preset with crf 16, in half the time, and without
		// the look-ahead that takes most of the memory. The default preset also spends that many
		// more bits on chroma.
		"-preset", "veryfast", "-crf", quality, "-x264-params", "mbtree=0:sync-lookahead=0:chroma-qp-offset=-4",
		"-threads", threads}
}
