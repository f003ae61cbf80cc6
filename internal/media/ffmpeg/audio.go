package ffmpeg

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/sandbox"
)

// PCMRate is the sample rate of the sound in this package, in Hz. Samples are 16-bit little-endian
// mono.
const PCMRate = 16000

// Transcode writes the file's sound to the path encoded, as AAC in MP4 or as Opus in WebM, and as samples
// at PCMRate to pcm. Both start at in.Begin, counted from the first sample, whatever its time stamp. Gaps in the
// time stamps become silence; if that takes too much memory, Transcode returns an error and 0
// samples. It stops after the duration most. It returns the number of samples at PCMRate.
func (t *Tools) Transcode(ctx context.Context, in *Info, encoded string, pcm io.Writer, most time.Duration) (int64, error) {
	return t.transcode(ctx, in, encoded, pcm, trackArgs(in, most))
}

// TranscodeTo does the same as Transcode, for a sound of exactly the length: it cuts a longer one, and
// appends silence to a shorter one.
func (t *Tools) TranscodeTo(ctx context.Context, in *Info, encoded string, pcm io.Writer, length time.Duration) (int64, error) {
	return t.transcode(ctx, in, encoded, pcm, trackArgs(in, length, "apad=whole_dur="+seconds(length)))
}

func (t *Tools) transcode(ctx context.Context, in *Info, encoded string, pcm io.Writer, track []string) (int64, error) {
	n, err := t.pipeSound(ctx, transcodeArgs(in, encoded, track), sandbox.Files{Read: []string{in.Path}, Write: []string{encoded}}, pcm)
	return n / 2, err
}

// pipeSound copies what ffmpeg writes to its pipe, and returns the number of bytes. Its error is a decodeError
// if ffmpeg fails. If ffmpeg had too little memory for the silence of a gap, or if it can't encode the samples, the number is 0.
func (t *Tools) pipeSound(ctx context.Context, args []string, files sandbox.Files, to io.Writer) (n int64, err error) {
	p, err := t.startReader(ctx, t.FFmpeg, args, files, soundMemory)
	if err != nil {
		return 0, err
	}
	for buffer := make([]byte, 64<<10); ; {
		m, err := p.Read(buffer)
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, decodeError{p.late(err, stallTime)}
		}
		if _, err := to.Write(buffer[:m]); err != nil {
			p.stop()
			return 0, err
		}
		n += int64(m)
	}
	err = p.wait()
	switch said := p.stderr.String(); {
	case strings.Contains(said, unfilledGap):
		n, err = 0, fmt.Errorf("%s: %s", p.name, said)
	case err != nil && strings.Contains(said, notNumbers):
		n = 0
	}
	if err != nil {
		return n, decodeError{err}
	}
	return n, nil
}

// decodeError is the error of a decoder, and not of the files that it writes.
type decodeError struct{ error }

func (e decodeError) Unwrap() error { return e.error }

// unfilledGap is in ffmpeg's log if there was too little memory for the silence of a gap. ffmpeg
// then continues without the silence.
const unfilledGap = "Failed to compensate for timestamp delta"

// notNumbers is in ffmpeg's log if the encoder of AAC got samples that are no numbers, or infinite. A file of floating-point samples can
// have them.
const notNumbers = "Input contains (near) NaN/+-Inf"

// These bound the memory of a process that decodes sound, in bytes: one allocation, and all with
// the libraries. ffmpeg keeps the silence of a whole gap in memory; the bound allows some minutes
// of stereo.
const (
	soundSize   = 128 << 20
	soundMemory = 6 * soundSize
)

// transcodeArgs returns the arguments that encode the sound that track selects, and write its
// samples to the pipe.
func transcodeArgs(in *Info, encoded string, track []string) []string {
	args := append(soundInput(in), track...)
	args = append(args, in.Audio.fileArgs(encoded)...)
	return append(append(args, track...), pcmArgs()...)
}

// Samples writes the samples that Transcode would write to pcm, and returns their number. It takes a tenth of the time. With an
// error, the number is that of the samples before it.
func (t *Tools) Samples(ctx context.Context, in *Info, pcm io.Writer, most time.Duration) (int64, error) {
	args := append(append(soundInput(in), trackArgs(in, most)...), pcmArgs()...)
	n, err := t.pipeSound(ctx, args, sandbox.Files{Read: []string{in.Path}}, pcm)
	return n / 2, err
}

// trackArgs returns the arguments that select the sound, from its first sample on, without gaps,
// and apply more filters to it.
func trackArgs(in *Info, most time.Duration, more ...string) []string {
	filters := append([]string{in.gapless("STARTPTS")}, more...)
	return []string{"-map", "0:" + strconv.Itoa(in.Audio.index), "-af", strings.Join(filters, ","), "-t", seconds(most)}
}

// gapless returns the filters for sound without gaps that starts at in.Begin, counted from the time stamp
// start.
func (in *Info) gapless(start string) string {
	filters := "asetpts=PTS-" + start + ",aresample=async=1:first_pts=0"
	if in.Begin > 0 {
		filters += ",atrim=start=" + seconds(in.Begin) + ",asetpts=PTS-STARTPTS"
	}
	return filters
}

// gaplessFromPictures returns the filters of gapless for the sound of a video. They count in.Begin from the
// first picture.
func (in *Info) gaplessFromPictures() string {
	return in.gapless(fmt.Sprintf("(%f)/TB", float64(in.Video.start)*in.Video.timeBase.Float()))
}

// seconds returns a duration in seconds, for ffmpeg's arguments.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

// pcmArgs returns the arguments that write samples at PCMRate to the pipe.
func pcmArgs() []string {
	return []string{"-ac", "1", "-ar", strconv.Itoa(PCMRate), "-c:a", "pcm_s16le", "-f", "s16le", "pipe:1"}
}

// soundInput returns the arguments that open a file to decode its sound.
func soundInput(in *Info) []string {
	return append(append([]string{"-max_alloc", strconv.Itoa(soundSize)}, inputArgs(in, 1)...), "-i", "file:"+in.Path)
}

// EncoderArgs returns ffmpeg's arguments that encode the sound a. They keep mono, stereo and 5.1,
// and the sample rates that every player supports. Anything else becomes stereo or 48 kHz.
func (a *Audio) EncoderArgs() []string {
	channels := a.encoded()
	if a.Opus {
		// Somewhat more than Xiph's recommendations for sound that listeners can't tell from the
		// source: 128 kbit/s for stereo, 256 for 5.1 (wiki.xiph.org/Opus_Recommended_Settings).
		bits := map[int]string{1: "96k", 2: "160k", 6: "320k"}[channels]
		return []string{"-c:a", "libopus", "-b:a", bits, "-ac", strconv.Itoa(channels), "-ar", "48000"}
	}
	bits := map[int]string{1: "128k", 2: "192k", 6: "384k"}[channels]
	rate := 48000
	if a.SampleRate == 44100 {
		rate = 44100
	}
	return []string{"-c:a", "aac", "-b:a", bits, "-ac", strconv.Itoa(channels), "-ar", strconv.Itoa(rate)}
}

// fileArgs returns ffmpeg's arguments that encode the sound a to the path.
func (a *Audio) fileArgs(path string) []string {
	format := order.MP4
	if a.Opus {
		format = order.WebM
	}
	return append(a.EncoderArgs(), "-map_metadata", "-1", "-f", format.String(), "-y", "file:"+path)
}

// encoded returns the number of channels that the sound has in an output: 1, 2 or 6.
func (a *Audio) encoded() int {
	if a.Channels == 1 || a.Channels == 6 {
		return a.Channels
	}
	return 2
}

// sound is the sound of a video as samples.
type sound struct{ p *process }

// OpenSound starts to decode the sound of a video from in.Begin on, at most for the duration, as samples at PCMRate. The first sample plays with the
// first frame that OpenFrames decodes. Close returns an error if the sound is not complete.
func (t *Tools) OpenSound(ctx context.Context, in *Info, most time.Duration) (io.ReadCloser, error) {
	p, err := t.startReader(ctx, t.FFmpeg, soundArgs(in, most), sandbox.Files{Read: []string{in.Path}}, soundMemory)
	if err != nil {
		return nil, err
	}
	return sound{p}, nil
}

func (s sound) Read(b []byte) (int, error) { return s.p.Read(b) }

func (s sound) Close() error { return s.p.wait() }

func soundArgs(in *Info, most time.Duration) []string {
	args := append(soundInput(in), "-map", "0:"+strconv.Itoa(in.Audio.index), "-af", in.gaplessFromPictures(), "-t", seconds(most))
	return append(args, pcmArgs()...)
}
