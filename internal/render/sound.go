package render

import (
	"context"
	"crypto/sha256"
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
	"lipsync/internal/render/flow"
)

// soundtrack is the sound of a job: at first its speech track, and then that of its output.
type soundtrack struct {
	info    *medium.Info  // of the speech track
	whole   string        // path of the sound as it will be encoded
	pcm     string        // path of the samples of the speech
	samples int64         // their number
	length  time.Duration // of the whole sound
	room    *room         // for the whole sound; nil: always enough
}

// inspectSpeech inspects the speech track of a job, and writes its samples, those for the output to a path.
func (w work) inspectSpeech(ctx context.Context, job Job, whole string) (s soundtrack, err error) {
	path := job.Audio
	if len(job.Segments) > 0 {
		if path, err = w.assemble(ctx, job); err != nil {
			return s, err
		}
	}
	s.whole, s.pcm = whole, filepath.Join(w.dir, "speech.pcm")
	if s.info, err = w.probeAudio(ctx, path); err != nil {
		return s, err
	}
	if s.info, err = take(s.info, failure.Audio, int(job.Options.AudioTrack)); err != nil {
		return s, err
	}
	s.info.Begin = job.Options.Preview.Start
	s.info.Audio.Opus = job.Options.Output.Format == order.WebM
	if job.Space != nil && whole != os.DevNull {
		s.room = &room{space: job.Space, written: job.segmentBytes(), taken: roomStep}
	}
	s.samples, err = w.decodeSpeech(ctx, s, job.Options.Preview.Length)
	return s, err
}

// probeAudio inspects a speech track.
func (w work) probeAudio(ctx context.Context, path string) (*medium.Info, error) {
	info, err := w.probe(ctx, failure.Audio, path)
	if err == nil && info.Audio == nil {
		err = failure.Failure{Code: failure.NoSoundTrack}.Because(nil)
	}
	return info, err
}

// decodeSpeech writes the samples of the speech track, or of a part of it unless part is 0, and returns their number. That is the real
// length, and not the one that the file states.
func (w work) decodeSpeech(ctx context.Context, s soundtrack, part time.Duration) (int64, error) {
	audio := s.info
	pcm, err := os.Create(s.pcm)
	if err != nil {
		return 0, err
	}
	defer pcm.Close()
	whole, err := os.Create(s.whole)
	if err != nil {
		return 0, err
	}
	defer whole.Close()
	limit := int64(w.Limits.Duration.Seconds() * ffmpeg.PCMRate)
	samples, err := w.Media.Samples(ctx, audio, pcm, s.room.writer(whole), w.mostSpeech(part))
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
		return 0, w.Limits.tooLong(failure.Audio, audio.Duration)
	}
	return samples, errors.Join(pcm.Close(), whole.Close())
}

// roomStep is the number of bytes of speech for which space on the disk is taken at once. The first ones need none.
const roomStep = 16 << 20

// room is the space on the disk that speech takes while it is decoded, before the space for the whole job is known. A file may state a wrong length.
type room struct {
	to             io.Writer
	space          Space
	written, taken int64 // bytes
}

// writer returns a writer to w that takes space for what it writes. If r is nil, that is w.
func (r *room) writer(w io.Writer) io.Writer {
	if r == nil {
		return w
	}
	r.to = w
	return r
}

func (r *room) Write(b []byte) (int, error) {
	if r.written += int64(len(b)); r.written > r.taken {
		if err := r.space.Take(r.written + roomStep); err != nil {
			return 0, err
		}
		r.taken = r.written + roomStep
	}
	return r.to.Write(b)
}

// mostSpeech returns the length up to which speech is read: that of a part, unless it is 0, and a little over the limit at most.
func (w work) mostSpeech(part time.Duration) time.Duration {
	most := w.Limits.Duration + time.Second
	if part > 0 {
		most = min(most, part)
	}
	return most
}

// assemble writes a speech track that has the audio of each segment in its place, and returns the path of the track.
func (w work) assemble(ctx context.Context, job Job) (path string, err error) {
	audios := map[string]*medium.Info{}
	for _, ref := range job.Segments.Refs() {
		if audios[ref], err = w.probeAudio(ctx, job.Audios[ref]); err != nil {
			return "", err
		}
	}
	end := job.Segments[len(job.Segments)-1].End
	if end > w.Limits.Duration {
		return "", w.Limits.tooLong(failure.Audio, end)
	}
	path = filepath.Join(w.dir, "segments.wav")
	track, err := ffmpeg.NewAssembly(path, end)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, track.Close()) }()
	for rest := job.Segments; len(rest) > 0; {
		n := joined(rest)
		if err := w.place(ctx, track, audios[rest[0].Ref], rest[:n]); err != nil {
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
func (w work) place(ctx context.Context, track *ffmpeg.Assembly, audio *medium.Info, all order.Segments) error {
	first, last := all[0], all[len(all)-1]
	sound := *audio
	sound.Begin = first.From
	if first.From >= w.Limits.Duration {
		return segmentAfterEnd(failure.Audio, first.From)
	}
	got, err := w.Media.Place(ctx, track, ffmpeg.Piece{Sound: &sound, At: first.Start, Length: last.Start - first.Start + heard(last)})
	switch {
	case err != nil && (got == 0 || errors.Is(err, medium.ErrUnsupported)) && ctx.Err() == nil:
		return ffmpeg.Unsupported(failure.Audio, err)
	case err != nil:
		return fmt.Errorf("decode audio: %w", err)
	}
	for _, s := range all {
		if got <= s.Start-first.Start {
			return segmentAfterEnd(failure.Audio, s.From)
		}
	}
	return nil
}

// finishSound returns the sound of an output, made from the speech track and the video's own sound, and a warning if that can't be used. source is
// the number of the video's frames, and frames that of the output. finishSound appends silence to samples that are shorter than the output, and leaves longer ones as they are, since an engine
// may listen ahead.
func (w work) finishSound(ctx context.Context, in input, source, frames int) (s soundtrack, warning order.Warnings, err error) {
	s = in.speech
	mixed, warning, err := w.mix(ctx, in, source, frames)
	if err != nil {
		return s, "", fmt.Errorf("mix: %w", err)
	}
	length := in.length(frames)
	if s.length = length; frames == in.spoken() { // then the speech track ends in the last frame
		if !mixed {
			s.length = time.Duration(s.samples) * time.Second / ffmpeg.PCMRate
		}
		return s, warning, nil
	}
	if !mixed {
		if err := w.Media.Fit(s.whole, length); err != nil {
			return s, "", err
		}
	}
	if samples := int64(length.Seconds() * ffmpeg.PCMRate); samples > s.samples {
		s.samples = samples
		return s, warning, os.Truncate(s.pcm, 2*samples) // appends zeros
	}
	return s, warning, nil
}

// mix makes the sound of an output, unless that is just the speech track. If the options ask for the video's own sound, and it can't be
// used, it returns a warning.
func (w work) mix(ctx context.Context, in input, source, frames int) (mixed bool, warning order.Warnings, err error) {
	m := in.mix(source, frames)
	scratch := filepath.Join(w.dir, "original.wav")
	if m.Original != nil {
		err := w.Media.Mix(ctx, m, scratch, in.speech.whole)
		if !errors.Is(err, medium.ErrUnsupported) {
			return err == nil, "", err
		}
		m.Original = nil
	}
	if in.hasOption(func(o order.Options) bool { return o.OriginalGain != 0 }) || len(in.job.Segments) > 0 && in.video.Audio != nil {
		warning = order.NoOriginalSound
	} else if in.video.Audio != nil {
		if same, err := sameContent(ctx, in.video.Path, in.speech.info.Path); err != nil {
			return false, "", err
		} else if !same {
			warning = order.DroppedSound
		}
	}
	if !in.hasOption(func(o order.Options) bool { return o.VoiceGain != 0 }) {
		return false, warning, nil
	}
	err = w.Media.Mix(ctx, m, scratch, in.speech.whole)
	return err == nil, warning, err
}

// mix returns the mix that an output has if its sound isn't just the speech track.
func (in input) mix(source, frames int) ffmpeg.Mix {
	o := in.job.Options
	m := ffmpeg.Mix{Voice: in.speech.info, VoiceGain: o.VoiceGain.Gain(), Length: in.length(frames),
		VoiceParts: in.parts(func(o order.Options) float64 { return o.VoiceGain.Gain() })}
	if o.OriginalGain != 0 || len(in.job.Segments) > 0 {
		m.Original = in.original(source, frames)
	}
	return m
}

// sameContent reports whether two files have the same content.
func sameContent(ctx context.Context, a, b string) (bool, error) {
	one, err := os.Stat(a)
	if err != nil {
		return false, err
	}
	other, err := os.Stat(b)
	if err != nil {
		return false, err
	}
	if same := os.SameFile(one, other); same || one.Size() != other.Size() {
		return same, nil
	}
	first, err := sumOf(ctx, a)
	if err != nil {
		return false, err
	}
	second, err := sumOf(ctx, b)
	return first == second, err
}

// sumOf returns the SHA-256 of a file.
func sumOf(ctx context.Context, path string) (sum [sha256.Size]byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer file.Close()
	h := sha256.New()
	_, err = io.Copy(h, flow.NewReader(ctx, file))
	return [sha256.Size]byte(h.Sum(nil)), err
}

// original returns the video's own sound in an output of a number of frames, nil if it has none. The sound follows the frames, except that it
// never plays backward: where the sync mode is Bounce, it starts again.
func (in input) original(source, frames int) *ffmpeg.Original {
	if in.video.Audio == nil {
		return nil
	}
	options := in.job.Options
	o := &ffmpeg.Original{Video: in.video, Gain: float64(options.OriginalGain), Span: in.length(source), Speed: 1, Duck: bool(options.Duck)}
	if len(in.job.Segments) > 0 {
		o.Gain, o.Parts = 1, in.parts(func(o order.Options) float64 { return float64(o.OriginalGain) })
	}
	switch {
	case options.SyncMode == order.Remap:
		o.Speed = float64(source) / float64(frames)
	case frames <= source:
		o.Span = in.length(frames)
	case options.SyncMode == order.Bounce: // neither the first nor the last frame is shown twice in a row
		o.Span, o.Repeat = in.length(max(1, source-1)), true
	case options.SyncMode == order.Loop:
		o.Repeat = true
	}
	return o
}

// parts returns the segments as parts of the output's sound with the gains that their options have for it.
func (in input) parts(gain func(order.Options) float64) []ffmpeg.Part {
	var all []ffmpeg.Part
	begin := in.job.Options.Preview.Start
	for _, s := range in.job.Segments {
		all = append(all, ffmpeg.Part{From: max(0, s.Start-begin), To: s.End - begin, Gain: gain(s.Options)})
	}
	return all
}
