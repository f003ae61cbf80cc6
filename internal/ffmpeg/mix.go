package ffmpeg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"lipsync/internal/sandbox"
)

// mixRate is the sample rate of a mix, in Hz.
const mixRate = 48000

// Mix describes the sound of an output. A gain is a factor of amplitude.
type Mix struct {
	Voice     *Info // the speech track
	VoiceGain float64
	Original  *Original     // nil: there is only the voice
	Length    time.Duration // of the mix
}

// Original describes the video's own sound in a mix. It starts with the video's first frame, or with the
// one at Video.Begin.
type Original struct {
	Video  *Info
	Gain   float64
	Span   time.Duration // its length before the change of speed
	Speed  float64       // by which it plays faster: .5 to 2
	Repeat bool          // it starts again after its span; otherwise silence follows
	Duck   bool          // it is lowered while the voice is heard
}

// Mix writes the mix as AAC in MP4 to the path aac. With an original it has the original's channels, as
// far as EncoderArgs keeps them, and otherwise the voice's. scratch is the path of a temporary file. The
// error is ErrUnsupported if the original can't be decoded.
//
// The original is decoded to scratch first, since only a file of exactly one span can be repeated without
// a gap.
func (t *Tools) Mix(ctx context.Context, m Mix, scratch, aac string) error {
	read := []string{m.Voice.Path}
	if o := m.Original; o != nil {
		defer os.Remove(scratch)
		err := t.decodeOriginal(ctx, o, scratch)
		if _, unreadable := errors.AsType[decodeError](err); unreadable && ctx.Err() == nil && !OfMachine(err) {
			err = fmt.Errorf("%w: the video's own sound: %w", ErrUnsupported, err)
		}
		if err != nil {
			return err
		}
		read = append(read, scratch)
	}
	return t.pipeSound(ctx, mixArgs(m, scratch, aac), sandbox.Files{Read: read, Write: []string{aac}}, io.Discard)
}

// decodeError is the error of a decoder, and not of the files that it writes.
type decodeError struct{ error }

func (e decodeError) Unwrap() error { return e.error }

// decodeOriginal writes the span of the original to the path wav, at its speed.
func (t *Tools) decodeOriginal(ctx context.Context, o *Original, wav string) error {
	file, err := os.Create(wav)
	if err != nil {
		return err
	}
	err = t.pipeSound(ctx, originalArgs(o), sandbox.Files{Read: []string{o.Video.Path}}, file)
	return errors.Join(err, file.Close())
}

// pipeSound copies what ffmpeg writes to its pipe. Its error is a decodeError if ffmpeg fails.
func (t *Tools) pipeSound(ctx context.Context, args []string, files sandbox.Files, to io.Writer) error {
	p, err := t.startReader(ctx, t.FFmpeg, args, files, soundMemory)
	if err != nil {
		return err
	}
	for buffer := make([]byte, 64<<10); ; {
		n, err := p.Read(buffer)
		if err == io.EOF {
			break
		}
		if err != nil {
			return decodeError{p.late(err, stallTime)}
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			p.stop()
			return err
		}
	}
	if err = p.wait(); err == nil && strings.Contains(p.stderr.String(), unfilledGap) {
		err = fmt.Errorf("%s: %s", p.name, p.stderr.String())
	}
	if err != nil {
		return decodeError{err}
	}
	return nil
}

// originalArgs returns the arguments that write the span of the original to the pipe, as WAV.
func originalArgs(o *Original) []string {
	filter := fmt.Sprintf("%s,apad=whole_dur=%[2]s,atrim=end=%[2]s", o.Video.gaplessFromPictures(), seconds(o.Span))
	if o.Speed != 1 {
		filter += fmt.Sprintf(",atempo=%g", o.Speed)
	}
	a := o.Video.Audio
	args := append(soundInput(o.Video), "-map", "0:"+strconv.Itoa(a.index), "-af", filter)
	return append(args, "-ac", strconv.Itoa(a.encoded()), "-ar", strconv.Itoa(mixRate), "-c:a", "pcm_s16le", "-f", "wav", "pipe:1")
}

// These are the settings of the filters of a mix.
const (
	// The highest level of EBU R 128, -1 dB, as far as samples show it. The limiter's delay is compensated.
	limiter = "alimiter=limit=0.891:level=0:latency=1"
	// A voice of -20 dB lowers the original by some 12 dB, within a tenth of a second, and the original
	// comes back in half a second. The values were chosen by ear.
	ducker = "sidechaincompress=threshold=0.015:ratio=6:attack=20:release=400:link=maximum"
)

// mixArgs returns the arguments that write the mix to the path aac, and its samples to the pipe. wav has
// the original. The padding of the voice has an end, since ffmpeg 5.1 may wait forever for the end of a
// sound that silence follows without end.
func mixArgs(m Mix, wav, aac string) []string {
	args, encoded, mixed := soundInput(m.Voice), m.Voice.Audio, m.voice()
	if o := m.Original; o != nil {
		encoded = &Audio{SampleRate: mixRate, Channels: o.Video.Audio.Channels}
		mixed += "," + encoded.layout(m.Voice.Audio.Channels)
		original := fmt.Sprintf("[1:a]volume=%g", o.Gain)
		if o.Duck {
			mixed += ",asplit[voice][key];" + original + "[loud];[loud][key]" + ducker + "[original]"
		} else {
			mixed += "[voice];" + original + "[original]"
		}
		mixed += ";[voice][original]amix=inputs=2:normalize=0"
		if o.Repeat {
			args = append(args, "-stream_loop", "-1")
		}
		args = append(args, "-protocol_whitelist", "file", "-f", "wav", "-i", "file:"+wav)
	}
	args = append(args, "-filter_complex", mixed+",atrim=end="+seconds(m.Length)+","+limiter+",asplit[aac][pcm]", "-map", "[aac]")
	args = append(args, encoded.EncoderArgs()...)
	args = append(args, "-map_metadata", "-1", "-f", "mp4", "-y", "file:"+aac, "-map", "[pcm]")
	return append(args, pcmArgs()...)
}

// voice returns the filters for the voice, with silence up to the end of the mix.
func (m Mix) voice() string {
	return fmt.Sprintf("[0:%d]%s,volume=%g,apad=whole_dur=%s", m.Voice.Audio.index, m.Voice.gapless("STARTPTS"), m.VoiceGain, seconds(m.Length))
}

// layout returns the filters that give a sound with a number of channels the channels and the rate of an
// encoded sound a. One channel is heard as loud on each of two, and two as loud on one.
func (a *Audio) layout(channels int) string {
	format := fmt.Sprintf("aresample=%d,aformat=channel_layouts=%s", mixRate, map[int]string{1: "mono", 2: "stereo", 6: "5.1"}[a.encoded()])
	switch {
	case channels == 1 && a.encoded() == 2:
		return "pan=stereo|c0=c0|c1=c0," + format
	case channels == 2 && a.encoded() == 1:
		return "pan=mono|c0=.5*c0+.5*c1," + format
	}
	return format
}
