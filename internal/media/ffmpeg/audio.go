package ffmpeg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"syscall"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/media/sandbox"
)

// PCMRate is the sample rate of the sound in this package, in Hz. Samples are 16-bit little-endian
// mono.
const PCMRate = 16000

// Samples writes the sound of a file from in.Begin on, at most for a time, as samples at PCMRate. It returns their number. The error is a
// decodeError if the file can't be decoded.
func (t *Tools) Samples(ctx context.Context, in *medium.Info, pcm io.Writer, most time.Duration) (int64, error) {
	return t.decode(ctx, in, form{rate: PCMRate, channels: 1}, pcm, most)
}

// OpenSound starts to decode the samples that Samples would write.
func (t *Tools) OpenSound(ctx context.Context, in *medium.Info, most time.Duration) (io.ReadCloser, error) {
	return t.listen(ctx, in, form{rate: PCMRate, channels: 1}, most)
}

// Transcode encodes the sound that Samples would write, but with the channels and the rate of in.Audio, to the path encoded: as AAC in MP4,
// or as Opus in WebM. The error is medium.ErrUnsupported if there are no samples, or if no encoder takes them.
func (t *Tools) Transcode(ctx context.Context, in *medium.Info, encoded string, most time.Duration) error {
	return t.transcode(ctx, in, encoded, most, 0)
}

// TranscodeTo does the same as Transcode, for a sound of exactly the length: it cuts a longer one, and appends silence to a shorter one.
func (t *Tools) TranscodeTo(ctx context.Context, in *medium.Info, encoded string, length time.Duration) error {
	return t.transcode(ctx, in, encoded, length, length)
}

// transcode encodes at most most, and at least least.
func (t *Tools) transcode(ctx context.Context, in *medium.Info, encoded string, most, least time.Duration) error {
	f := formOf(in.Audio)
	args := append([]string{"-v", "error", "-protocol_whitelist", "file,pipe"}, append(f.args(), "-i", "pipe:0")...)
	p, err := t.startWriter(ctx, t.FFmpeg, append(args, fileArgs(in.Audio, encoded)...), sandbox.Files{Write: []string{encoded}})
	if err != nil {
		return err
	}
	return t.feed(ctx, p, in, f, most, least)
}

// feed writes the sound of a file to a program, and waits for its end. The error is that of Transcode.
func (t *Tools) feed(ctx context.Context, p *process, in *medium.Info, f form, most, least time.Duration) error {
	n, err := t.decode(ctx, in, f, p, most)
	if err == nil && n < f.count(least) {
		_, err = io.CopyN(p, zeros{}, (f.count(least)-n)*int64(f.size()))
	}
	if _, unread := errors.AsType[decodeError](err); unread {
		p.stop()
		if n == 0 && ctx.Err() == nil && !OfMachine(err) {
			err = fmt.Errorf("%w: %w", medium.ErrUnsupported, err)
		}
		return err
	}
	switch ended := p.wait(); {
	case ended == nil && errors.Is(err, syscall.EPIPE): // it needed no more
		return nil
	case ended == nil:
		return err
	case strings.Contains(p.stderr.String(), notNumbers):
		return fmt.Errorf("%w: %w", medium.ErrUnsupported, ended)
	default: // it says more than the error of the pipe
		return errors.Join(err, ended)
	}
}

// zeros reads as zeros without end.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// notNumbers is in ffmpeg's log if the encoder of AAC got samples that are no numbers, or infinite. A file of floating-point samples can
// have them.
const notNumbers = "Input contains (near) NaN/+-Inf"

// seconds returns a duration in seconds, for ffmpeg's arguments.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

// SoundArgs returns ffmpeg's arguments that encode the sound a. They keep mono, stereo and 5.1,
// and the sample rates that every player supports. Anything else becomes stereo or 48 kHz.
func SoundArgs(a *medium.Audio) []string {
	f := formOf(a)
	args := []string{"-ac", strconv.Itoa(f.channels), "-ar", strconv.Itoa(f.rate)}
	if a.Opus {
		// Somewhat more than Xiph's recommendations for sound that listeners can't tell from the
		// source: 128 kbit/s for stereo, 256 for 5.1 (wiki.xiph.org/Opus_Recommended_Settings).
		bits := map[int]string{1: "96k", 2: "160k", 6: "320k"}[f.channels]
		return append([]string{"-c:a", "libopus", "-b:a", bits}, args...)
	}
	bits := map[int]string{1: "128k", 2: "192k", 6: "384k"}[f.channels]
	return append([]string{"-c:a", "aac", "-b:a", bits}, args...)
}

// formOf returns the form of the samples that are encoded as the sound a.
func formOf(a *medium.Audio) form {
	f := form{rate: 48000, channels: 2, float: true}
	if a.SampleRate == 44100 && !a.Opus {
		f.rate = 44100
	}
	if a.Channels == 1 || a.Channels == 6 {
		f.channels = a.Channels
	}
	return f
}

// fileArgs returns ffmpeg's arguments that encode the sound a to the path.
func fileArgs(a *medium.Audio, path string) []string {
	format := order.MP4
	if a.Opus {
		format = order.WebM
	}
	return append(SoundArgs(a), "-map_metadata", "-1", "-f", format.String(), "-y", "file:"+path)
}
