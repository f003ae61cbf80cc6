package ffmpeg

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"lipsync/internal/media/ffmpeg/container"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/media/sandbox"
)

// mixRate is the sample rate of a mix, in Hz.
const mixRate = 48000

// Mix describes the sound of an output. A gain is a factor of amplitude.
type Mix struct {
	Voice      *medium.Info // the speech track
	VoiceGain  float64
	VoiceParts []Part
	Original   *Original     // nil: there is only the voice
	Length     time.Duration // of the mix
}

// Original describes the video's own sound in a mix. It starts with the video's first frame, or with the
// one at Video.Begin.
type Original struct {
	Video  *medium.Info
	Gain   float64
	Span   time.Duration // its length before the change of speed
	Speed  float64       // by which it plays faster: .5 to 2
	Repeat bool          // it starts again after its span; otherwise silence follows
	Duck   bool          // it is lowered while the voice is heard
	Parts  []Part
}

// Part is a part of a sound with a gain of its own, instead of that of the sound. Parts are in order of time, and none overlaps
// another.
type Part struct {
	From, To time.Duration
	Gain     float64
}

// Mix writes the mix to the path sound, as Encode takes it. With an original it has the original's channels, as
// far as SoundArgs keeps them, and otherwise the voice's. scratch is the path of a temporary file. The
// error is medium.ErrUnsupported if the original can't be decoded.
//
// The original is decoded to scratch first, since only a file of exactly one span can be repeated without
// a gap.
func (t *Tools) Mix(ctx context.Context, m Mix, scratch, sound string) error {
	var read []string
	if o := m.Original; o != nil {
		defer os.Remove(scratch)
		err := t.decodeOriginal(ctx, o, m.Length, scratch)
		if _, unreadable := errors.AsType[decodeError](err); unreadable && ctx.Err() == nil && !OfMachine(err) {
			err = fmt.Errorf("%w: the video's own sound: %w", medium.ErrUnsupported, err)
		}
		if err != nil {
			return err
		}
		read = append(read, scratch)
	}
	p, err := t.startWriter(ctx, t.FFmpeg, mixArgs(m, scratch, sound), sandbox.Files{Read: read, Write: []string{sound}})
	if err != nil {
		return err
	}
	return t.feed(ctx, p, m.Voice, m.form(), m.Length, m.Length+beyond)
}

// Bytes returns the bytes of the files that Mix writes: the mix, and the scratch file.
func (m Mix) Bytes() (mix, scratch int64) {
	if o := m.Original; o != nil {
		scratch = o.form().bytes(o.Span)
	}
	return m.form().bytes(m.Length), scratch
}

// form returns the form of the original that is mixed.
func (o *Original) form() form {
	f := formOf(&medium.Audio{SampleRate: mixRate, Channels: o.Video.Audio.Channels})
	f.float = false
	return f
}

// form returns the form of the voice in the mix, and of the mix.
func (m Mix) form() form {
	if m.Original == nil {
		return formOf(m.Voice.Audio)
	}
	return formOf(&medium.Audio{SampleRate: mixRate, Channels: m.Original.Video.Audio.Channels})
}

// beyond is by how much the inputs of a mix end later than it. ffmpeg 7 crashes if filters ask for more once all inputs have ended, as that
// for speed does, which then gives its last sound bit by bit.
const beyond = time.Second

// decodeOriginal writes the span of the original to the path wav, for a mix of some length. Unless the original is repeated, silence follows
// to its end, as far as a WAV has room. The silence takes none on the disk.
func (t *Tools) decodeOriginal(ctx context.Context, o *Original, length time.Duration, wav string) error {
	file, err := os.Create(wav)
	if err != nil {
		return err
	}
	defer file.Close()
	f := o.form()
	const most = math.MaxUint32 - container.WAVHeaderBytes
	size := f.bytes(o.Span)
	if size > most {
		return fmt.Errorf("a WAV of %v has too many bytes", o.Span)
	}
	if !o.Repeat {
		size = max(size, min(f.count(time.Duration(o.Speed*float64(length+beyond)))*int64(f.size()), most/int64(f.size())*int64(f.size())))
	}
	if _, err := file.Write(f.header(uint32(size))); err != nil {
		return err
	}
	if _, err := t.decode(ctx, o.Video, o.Span, take{f, file}); err != nil {
		return err
	}
	return file.Truncate(container.WAVHeaderBytes + size) // appends silence
}

// These are the settings of the filters of a mix.
const (
	// The highest level of EBU R 128, -1 dB, as far as samples show it. The limiter's delay is compensated.
	limiter = "alimiter=limit=0.891:level=0:latency=1"
	// The highest level of samples.
	fullLimiter = "alimiter=limit=1:level=0:latency=1"
	// A voice of -20 dB lowers the original by some 12 dB, within a tenth of a second, and the original
	// comes back in half a second. The values were chosen by ear.
	//
	// The compressor of ffmpeg 7 loses samples if its two inputs come in parts of different lengths, so both pass evenly.
	evenly = "asetnsamples=n=1024:p=0"
	ducker = "sidechaincompress=threshold=0.015:ratio=6:attack=20:release=400:link=maximum"
)

// mixArgs returns the arguments that write the mix to the path. The voice comes by the pipe, and wav has the original. Both end later
// than the mix.
func mixArgs(m Mix, wav, path string) []string {
	args := append([]string{"-v", "error", "-protocol_whitelist", "file,pipe"}, append(m.form().args(), "-i", "pipe:0")...)
	mixed := "[0:a]" + volume(m.VoiceGain, m.VoiceParts)
	if o := m.Original; o != nil {
		original := "[1:a]" + volume(o.Gain, o.Parts)
		if o.Speed != 1 {
			original += fmt.Sprintf(",atempo=%g", o.Speed)
		}
		if o.Duck {
			mixed += ",asplit[voice][key];" + original + "," + evenly + "[loud];[key]" + evenly + "[even];[loud][even]" + ducker + "[original]"
		} else {
			mixed += "[voice];" + original + "[original]"
		}
		mixed += ";[voice][original]amix=inputs=2:normalize=0"
		if o.Repeat {
			args = append(args, "-stream_loop", "-1")
		}
		args = append(args, "-protocol_whitelist", "file", "-f", "wav", "-i", "file:"+wav)
	}
	limited := limiter
	if m.Original != nil && len(m.Original.Parts) > 0 {
		limited = limitIn(m.Original.Parts)
	}
	args = append(args, "-filter_complex", mixed+",atrim=end="+seconds(m.Length)+","+limited+"[mixed]", "-map", "[mixed]")
	args = append(append(args, "-c:a", "pcm_f32le"), m.form().shape()...)
	return append(args, "-map_metadata", "-1", "-f", "wav", "-y", "file:"+path)
}

// limitIn returns the filters that limit a sound in its parts only. A limiter needs some time to let go, so elsewhere the sound goes
// around it.
func limitIn(parts []Part) string {
	inside, outside := slices.Clone(parts), slices.Clone(parts)
	for i := range parts {
		inside[i].Gain, outside[i].Gain = 1, 0
	}
	return "asplit[mix][rest];[mix]" + fullLimiter + "," + volume(0, inside) + "[limited];[rest]" + volume(1, outside) +
		"[whole];[limited][whole]amix=inputs=2:normalize=0"
}

// gainSteps is the number of gains in a second, where a sound has parts.
const gainSteps = 1000

// volume returns the filter for the gain of a sound with parts. The gain changes within fadeSeconds: inside a part, so that the sound outside of
// all parts stays as it is, or at the beginning of a part that follows another at once.
func volume(gain float64, parts []Part) string {
	if len(parts) == 0 {
		return fmt.Sprintf("volume=%g", gain)
	}
	sum, before := fmt.Sprint(gain), gain
	change := func(at, to float64) {
		sum += fmt.Sprintf("+(%g)*clip((t-%g)/%g,0,1)", to-before, at, fadeSeconds)
		before = to
	}
	for i, p := range parts {
		change(p.From.Seconds(), p.Gain)
		if i+1 == len(parts) || parts[i+1].From > p.To {
			change(p.To.Seconds()-fadeSeconds, gain)
		}
	}
	return fmt.Sprintf("aresample=%d,asetnsamples=n=%d:p=0,volume=eval=frame:volume='%s'", mixRate, mixRate/gainSteps, sum)
}
