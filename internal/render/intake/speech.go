package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
)

// Speech is a speech track that was read.
type Speech struct {
	Info    *medium.Info
	Whole   string // path of the sound as it will be encoded
	PCM     string // path of its samples
	Samples int64  // their number
}

// Track says what the speech track of a job is.
type Track struct {
	Audio string // path of the file that has it, without segments
	// With Segments the track is made of their audios.
	Segments order.Segments
	Audios   map[string]string // paths, by their Ref
	Options  order.Options     // of the job
	Whole    string            // where the sound is written as it will be encoded
	// Take replaces the bytes that the job has for its files by size, or changes nothing and returns why.
	Take func(size int64) error
}

// SegmentBytes returns the bytes of the speech track that is made of segments, 0 for none.
func SegmentBytes(all order.Segments) int64 {
	if len(all) == 0 {
		return 0
	}
	return ffmpeg.AssemblyBytes(all[len(all)-1].End)
}

// Speech inspects the speech track of a job, and writes its samples.
func (f Files) Speech(ctx context.Context, t Track) (s Speech, err error) {
	path := t.Audio
	if len(t.Segments) > 0 {
		if path, err = f.assemble(ctx, t); err != nil {
			return s, err
		}
	}
	s.Whole, s.PCM = t.Whole, filepath.Join(f.Dir, "speech.pcm")
	if s.Info, err = f.audio(ctx, path); err != nil {
		return s, err
	}
	if s.Info, err = take(s.Info, failure.Audio, int(t.Options.AudioTrack)); err != nil {
		return s, err
	}
	s.Info.Begin = t.Options.Preview.Start
	s.Info.Audio.Opus = t.Options.Output.Format == order.WebM
	s.Samples, err = f.decode(ctx, s, t)
	return s, err
}

// decode writes the samples of the speech track, or of the part of a preview, and returns their number. That is the real
// length, and not the one that the file states.
func (f Files) decode(ctx context.Context, s Speech, t Track) (int64, error) {
	audio := s.Info
	pcm, err := os.Create(s.PCM)
	if err != nil {
		return 0, err
	}
	defer pcm.Close()
	whole, err := os.Create(s.Whole)
	if err != nil {
		return 0, err
	}
	defer whole.Close()
	limit := int64(f.Limits.Duration.Seconds() * ffmpeg.PCMRate)
	most := f.Limits.Duration + time.Second
	if part := t.Options.Preview.Length; part > 0 {
		most = min(most, part)
	}
	sound := &room{to: whole, take: t.Take, written: SegmentBytes(t.Segments), taken: roomStep}
	samples, err := f.Media.Samples(ctx, audio, pcm, sound, most)
	switch {
	case err != nil && (samples == 0 || errors.Is(err, medium.ErrUnsupported)) && ctx.Err() == nil:
		return 0, ffmpeg.Unsupported(failure.Audio, err)
	case err != nil:
		return 0, fmt.Errorf("decode audio: %w", err)
	case samples == 0 && audio.Begin > 0:
		return 0, ffmpeg.AfterEnd(failure.Audio)
	case samples == 0:
		return 0, failure.Failure{Code: failure.NoSoundTrack}.Because(nil)
	case samples > limit:
		return 0, f.Limits.TooLong(failure.Audio, audio.Duration)
	}
	return samples, errors.Join(pcm.Close(), whole.Close())
}

// assemble writes a speech track that has the audio of each segment in its place, and returns the path of the track.
func (f Files) assemble(ctx context.Context, t Track) (path string, err error) {
	audios := map[string]*medium.Info{}
	for _, ref := range t.Segments.Refs() {
		if audios[ref], err = f.audio(ctx, t.Audios[ref]); err != nil {
			return "", err
		}
	}
	end := t.Segments[len(t.Segments)-1].End
	if end > f.Limits.Duration {
		return "", f.Limits.TooLong(failure.Audio, end)
	}
	path = filepath.Join(f.Dir, "segments.wav")
	track, err := ffmpeg.NewAssembly(path, end)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, track.Close()) }()
	for rest := t.Segments; len(rest) > 0; {
		n := joined(rest)
		if err := f.place(ctx, track, audios[rest[0].Ref], rest[:n]); err != nil {
			return "", err
		}
		rest = rest[n:]
	}
	return path, nil
}

// heard returns how long the audio of a segment is heard, if it doesn't end before.
func heard(s order.Segment) time.Duration {
	if s.To == 0 {
		return s.End - s.Start
	}
	return min(s.End-s.Start, s.To-s.From)
}

// joined returns the number of the first segments in which one audio goes on without a gap.
func joined(all order.Segments) int {
	n := 1
	for ; n < len(all); n++ {
		a, b := all[n-1], all[n]
		if a.Ref != b.Ref || a.End != b.Start || a.From+heard(a) != b.From || heard(a) < a.End-a.Start {
			break
		}
	}
	return n
}

// place adds the audio of joined segments to the track.
func (f Files) place(ctx context.Context, track *ffmpeg.Assembly, audio *medium.Info, all order.Segments) error {
	first, last := all[0], all[len(all)-1]
	sound := *audio
	sound.Begin = first.From
	if first.From >= f.Limits.Duration {
		return SegmentAfterEnd(failure.Audio, first.From)
	}
	got, err := f.Media.Place(ctx, track, ffmpeg.Piece{Sound: &sound, At: first.Start, Length: last.Start - first.Start + heard(last)})
	switch {
	case err != nil && (got == 0 || errors.Is(err, medium.ErrUnsupported)) && ctx.Err() == nil:
		return ffmpeg.Unsupported(failure.Audio, err)
	case err != nil:
		return fmt.Errorf("decode audio: %w", err)
	}
	for _, s := range all {
		if got <= s.Start-first.Start {
			return SegmentAfterEnd(failure.Audio, s.From)
		}
	}
	return nil
}

// roomStep is the number of bytes of speech for which space on the disk is taken at once. The first ones need none.
const roomStep = 16 << 20

// room takes space on the disk for speech while it is written, before the space for the whole job is known: a file may state a wrong length.
type room struct {
	to             io.Writer
	take           func(size int64) error
	written, taken int64 // bytes
}

func (r *room) Write(b []byte) (int, error) {
	if r.written += int64(len(b)); r.written > r.taken {
		if err := r.take(r.written + roomStep); err != nil {
			return 0, err
		}
		r.taken = r.written + roomStep
	}
	return r.to.Write(b)
}
