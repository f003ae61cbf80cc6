package ffmpeg

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"lipsync/internal/sandbox"
)

// mixRate is the sample rate of a mixed sound, in Hz.
const mixRate = 48000

// Mix describes the sound of an output: a voice, and the sound that the video had. A gain is a factor of
// amplitude.
type Mix struct {
	Voice     *Info
	VoiceGain float64
	// Original is the video, with sound, which starts with the first frame; nil: there is only the voice.
	Original     *Info
	OriginalGain float64
	Speed        float64       // by which the original plays faster: .5 to 2
	Span         time.Duration // length of the original before the change of its speed
	Repeat       bool          // the original starts again after its span; otherwise silence follows
	Duck         bool          // the original is lowered while the voice is heard
	Length       time.Duration // of the result
}

// Mix writes the mix as AAC in MP4 to the path aac. With an original it has the original's channels, as
// far as EncoderArgs keeps them, and otherwise the voice's. scratch is the path of a temporary file.
//
// The original is decoded to scratch first, since only a file of exactly one span can be repeated without
// a gap.
func (t *Tools) Mix(ctx context.Context, m Mix, scratch, aac string) error {
	read := []string{m.Voice.Path}
	if m.Original != nil {
		if err := t.runSound(ctx, originalArgs(m, scratch), sandbox.Files{Read: []string{m.Original.Path}, Write: []string{scratch}}); err != nil {
			return fmt.Errorf("decode the video's sound: %w", err)
		}
		read = append(read, scratch)
	}
	return t.runSound(ctx, mixArgs(m, scratch, aac), sandbox.Files{Read: read, Write: []string{aac}})
}

// runSound runs ffmpeg, which writes a sound to a file.
func (t *Tools) runSound(ctx context.Context, args []string, files sandbox.Files) error {
	p, err := t.startReader(ctx, t.FFmpeg, args, files, soundMemory)
	if err != nil {
		return err
	}
	return p.wait()
}

// originalArgs returns the arguments that write the span of the original to the path wav, at its speed.
func originalArgs(m Mix, wav string) []string {
	v, a := m.Original.Video, m.Original.Audio
	filter := fmt.Sprintf("asetpts=PTS-(%f)/TB,aresample=async=1:first_pts=0,apad=whole_dur=%[2]s,atrim=end=%[2]s",
		float64(v.start)*v.timeBase.Float(), seconds(m.Span))
	if m.Speed != 1 {
		filter += fmt.Sprintf(",atempo=%g", m.Speed)
	}
	args := append(soundInput(m.Original), "-map", "0:"+strconv.Itoa(a.index), "-af", filter)
	return append(args, "-ac", strconv.Itoa(a.encoded()), "-ar", strconv.Itoa(mixRate), "-c:a", "pcm_s16le", "-f", "wav", "-y", "file:"+wav)
}

// These are the settings of the filters of a mix.
const (
	// The highest level of EBU R 128: -1 dBTP. The limiter's delay is compensated.
	limiter = "alimiter=limit=0.891:level=0:latency=1"
	// A voice of -20 dB lowers the original by some 12 dB, within a tenth of a second, and the original
	// comes back in half a second. By ear.
	ducker = "sidechaincompress=threshold=0.015:ratio=6:attack=20:release=400"
)

// mixArgs returns the arguments that write the mix to the path aac. wav has the original. The padding of the
// voice has an end, since ffmpeg 5.1 may wait forever for the end of a sound that silence follows without end.
func mixArgs(m Mix, wav, aac string) []string {
	args, encoded := soundInput(m.Voice), m.Voice.Audio
	graph := fmt.Sprintf("[0:%d]asetpts=PTS-STARTPTS,aresample=async=1:first_pts=0,volume=%g,apad=whole_dur=%s",
		m.Voice.Audio.index, m.VoiceGain, seconds(m.Length))
	if m.Original != nil {
		encoded = &Audio{SampleRate: mixRate, Channels: m.Original.Audio.Channels}
		voice, original := graph+","+encoded.layout(m.Voice.Audio.Channels), fmt.Sprintf("[1:a]volume=%g", m.OriginalGain)
		if m.Duck {
			voice, original = voice+",asplit[voice][key]", original+"[loud];[loud][key]"+ducker
		} else {
			voice += "[voice]"
		}
		graph = voice + ";" + original + "[original];[voice][original]amix=inputs=2:normalize=0"
		if m.Repeat {
			args = append(args, "-stream_loop", "-1")
		}
		args = append(args, "-protocol_whitelist", "file", "-f", "wav", "-i", "file:"+wav)
	}
	args = append(args, "-filter_complex", graph+",atrim=end="+seconds(m.Length)+","+limiter+"[mix]", "-map", "[mix]")
	args = append(args, encoded.EncoderArgs()...)
	return append(args, "-map_metadata", "-1", "-f", "mp4", "-y", "file:"+aac)
}

// layout returns the filters that give a sound with a number of channels the channels and the rate of an
// encoded sound a. One channel is heard as loud on each of two.
func (a *Audio) layout(channels int) string {
	names := map[int]string{1: "mono", 2: "stereo", 6: "5.1"}
	format := fmt.Sprintf("aresample=%d,aformat=channel_layouts=%s", mixRate, names[a.encoded()])
	if channels == 1 && a.encoded() == 2 {
		return "pan=stereo|c0=c0|c1=c0," + format
	}
	return format
}
