package ffmpeg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"syscall"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg/container"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/media/sandbox"
)

// PCMRate is the sample rate of the sound in this package, in Hz. Samples are 16-bit little-endian
// mono.
const PCMRate = 16000

// Samples writes the sound of a file from in.Begin on, at most for a time: as samples at PCMRate to pcm, and as a file that Encode takes, with the channels
// and the rate of in.Audio as far as SoundArgs keeps them, to sound. It returns the number of samples of pcm. The error is medium.ErrUnsupported
// if the file has samples that no encoder takes, and another decodeError if it can't be decoded.
func (t *Tools) Samples(ctx context.Context, in *medium.Info, pcm, sound io.Writer, most time.Duration) (int64, error) {
	whole := formOf(in.Audio)
	if _, err := sound.Write(whole.header(math.MaxUint32)); err != nil {
		return 0, err
	}
	return t.decode(ctx, in, most, take{speech, pcm}, take{whole, sound})
}

// SoundBytes returns the bytes that Samples writes of the sound a of a length, to both files.
func SoundBytes(a *medium.Audio, length time.Duration) int64 {
	return speech.bytes(length) + formOf(a).bytes(length)
}

// Fit cuts a file of sound that Samples wrote to a length, or appends silence.
func (t *Tools) Fit(sound string, length time.Duration) error {
	a, err := soundOf(sound, order.MP4)
	if err != nil {
		return err
	}
	return os.Truncate(sound, container.WAVHeaderBytes+formOf(a).bytes(length)) // appends zeros
}

// OpenSound starts to decode the samples that Samples would write.
func (t *Tools) OpenSound(ctx context.Context, in *medium.Info, most time.Duration) (io.ReadCloser, error) {
	return t.listen(ctx, in, most, speech)
}

// EncodeSound encodes the sound of an output, a file that Samples or Mix wrote, to a file for Join. Join itself encodes that of WebM, since a copy
// would begin later, and state another length.
func (t *Tools) EncodeSound(ctx context.Context, o order.Output, sound, encoded string) error {
	a, err := soundOf(sound, o.Format)
	if err != nil {
		return err
	}
	args := append(append([]string{"-v", "error"}, wavInput(sound)...), SoundArgs(a)...)
	args = append(args, "-map_metadata", "-1", "-f", o.Format.String(), "-y", "file:"+encoded)
	p, err := t.startWriter(ctx, t.FFmpeg, args, sandbox.Files{Read: []string{sound}, Write: []string{encoded}})
	if err == nil {
		err = p.wait()
	}
	if err != nil {
		return fmt.Errorf("encode sound: %w", err)
	}
	return nil
}

// feed writes the sound of a file in a form to a program, and waits for its end. The sound is cut to a length, or silence is appended.
func (t *Tools) feed(ctx context.Context, p *process, in *medium.Info, f form, most, length time.Duration) error {
	n, err := t.decode(ctx, in, most, take{f, p})
	if err == nil && n < f.count(length) {
		_, err = io.CopyN(p, zeros{}, f.bytes(length)-n*int64(f.size()))
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

// soundOf returns the sound of a file that Samples or Mix wrote, for an output of a format.
func soundOf(path string, format order.Format) (*medium.Audio, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	channels, rate, err := container.ReadWAV(file)
	return &medium.Audio{SampleRate: rate, Channels: channels, Opus: format == order.WebM}, err
}

// wavInput returns the arguments that read a WAV of this program. Its length is that of the file, since Fit doesn't change the header.
func wavInput(path string) []string {
	return []string{"-protocol_whitelist", "file", "-f", "wav", "-ignore_length", "1", "-i", "file:" + path}
}
