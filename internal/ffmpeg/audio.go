package ffmpeg

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"lipsync/internal/sandbox"
)

// PCMRate is the rate of the samples that the functions here return, in Hz:
// 16-bit little-endian mono.
const PCMRate = 16000

// Transcode writes the file's sound as AAC in MP4 to the path aac, and its
// samples at PCMRate to pcm. Both start with the first sample, whatever time
// the file gives it, and gaps in time are filled with silence. It stops after
// the time most; it returns how many samples at PCMRate there were.
func (t *Tools) Transcode(ctx context.Context, in *Info, aac string, pcm io.Writer, most time.Duration) (int64, error) {
	p, err := t.startReader(ctx, t.FFmpeg, transcodeArgs(in, aac, most), sandbox.Files{Read: []string{in.Path}, Write: []string{aac}})
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(pcm, p)
	if err != nil {
		p.stop()
		return 0, fmt.Errorf("read samples: %w", err)
	}
	return n / 2, p.wait()
}

func transcodeArgs(in *Info, aac string, most time.Duration) []string {
	stream := "0:" + strconv.Itoa(in.Audio.index)
	seconds := strconv.FormatFloat(most.Seconds(), 'f', -1, 64)
	const filter = "asetpts=PTS-STARTPTS,aresample=async=1:first_pts=0"
	args := append(inputArgs(in, 1), "-i", "file:"+in.Path,
		"-map", stream, "-af", filter, "-t", seconds)
	args = append(args, in.Audio.EncoderArgs()...)
	args = append(args, "-map_metadata", "-1", "-f", "mp4", "-y", "file:"+aac)
	return append(args, "-map", stream, "-af", filter, "-t", seconds,
		"-ac", "1", "-ar", strconv.Itoa(PCMRate), "-c:a", "pcm_s16le", "-f", "s16le", "pipe:1")
}

// EncoderArgs returns ffmpeg's arguments that encode the sound of a. They keep
// mono, stereo and 5.1 as they are, and rates that every player takes; others
// become stereo and 48 kHz.
func (a *Audio) EncoderArgs() []string {
	channels, bits := 2, "192k"
	switch a.Channels {
	case 1:
		channels, bits = 1, "128k"
	case 6:
		channels, bits = 6, "384k"
	}
	rate := 48000
	if a.SampleRate == 44100 {
		rate = 44100
	}
	return []string{"-c:a", "aac", "-b:a", bits, "-ac", strconv.Itoa(channels), "-ar", strconv.Itoa(rate)}
}

// Sound is the sound of a video, as samples at PCMRate, the first of which is
// heard with the first picture.
type Sound struct{ p *process }

// OpenSound decodes the sound of a video, at most for so long.
func (t *Tools) OpenSound(ctx context.Context, in *Info, most time.Duration) (*Sound, error) {
	p, err := t.startReader(ctx, t.FFmpeg, soundArgs(in, most), sandbox.Files{Read: []string{in.Path}})
	if err != nil {
		return nil, err
	}
	return &Sound{p}, nil
}

func (s *Sound) Read(b []byte) (int, error) { return s.p.Read(b) }

// Close ends the decoder. Its error tells that the sound is not all there.
func (s *Sound) Close() error { return s.p.wait() }

func soundArgs(in *Info, most time.Duration) []string {
	start := float64(in.Video.start) * in.Video.timeBase.Float()
	filter := fmt.Sprintf("asetpts=PTS-(%f)/TB,aresample=async=1:first_pts=0", start)
	return append(inputArgs(in, 1), "-i", "file:"+in.Path,
		"-map", "0:"+strconv.Itoa(in.Audio.index), "-af", filter,
		"-t", strconv.FormatFloat(most.Seconds(), 'f', -1, 64),
		"-ac", "1", "-ar", strconv.Itoa(PCMRate), "-c:a", "pcm_s16le", "-f", "s16le", "pipe:1")
}
