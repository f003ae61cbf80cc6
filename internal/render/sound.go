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

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render/flow"
	"lipsync/internal/render/intake"
)

// soundtrack is the sound of a job: at first its speech track, and then that of its output.
type soundtrack struct {
	intake.Speech
	length time.Duration // of the whole sound
}

// inspectSpeech reads the speech track of a job, and writes the sound for the output to a path. It takes the bytes from space.
func (w work) inspectSpeech(ctx context.Context, j Job, whole string, space Space) (s soundtrack, err error) {
	s.Speech, err = w.files().Speech(ctx, intake.Track{Audio: j.Audio, Segments: j.Segments, Audios: j.Audios, Options: j.Options, Whole: whole, Take: space.Take})
	return s, err
}

// files returns what reads the files of a job.
func (w work) files() intake.Files { return intake.Files{Media: w.Media, Limits: w.Limits, Dir: w.dir} }

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
			s.length = time.Duration(s.Samples) * time.Second / ffmpeg.PCMRate
		}
		return s, warning, nil
	}
	if !mixed {
		if err := w.Media.Fit(s.Whole, length); err != nil {
			return s, "", err
		}
	}
	if samples := int64(length.Seconds() * ffmpeg.PCMRate); samples > s.Samples {
		s.Samples = samples
		return s, warning, os.Truncate(s.PCM, 2*samples) // appends zeros
	}
	return s, warning, nil
}

// mix makes the sound of an output, unless that is just the speech track. If the options ask for the video's own sound, and it can't be
// used, it returns a warning.
func (w work) mix(ctx context.Context, in input, source, frames int) (mixed bool, warning order.Warnings, err error) {
	m := in.mix(source, frames)
	scratch := filepath.Join(w.dir, "original.wav")
	if m.Original != nil {
		err := w.Media.Mix(ctx, m, scratch, in.speech.Whole)
		if !errors.Is(err, medium.ErrUnsupported) {
			return err == nil, "", err
		}
		m.Original = nil
	}
	if in.hasOption(func(o order.Options) bool { return o.OriginalGain != 0 }) || len(in.job.Segments) > 0 && in.video.Audio != nil {
		warning = order.NoOriginalSound
	} else if in.video.Audio != nil {
		if same, err := sameContent(ctx, in.video.Path, in.speech.Info.Path); err != nil {
			return false, "", err
		} else if !same {
			warning = order.DroppedSound
		}
	}
	if !in.hasOption(func(o order.Options) bool { return o.VoiceGain != 0 }) {
		return false, warning, nil
	}
	err = w.Media.Mix(ctx, m, scratch, in.speech.Whole)
	return err == nil, warning, err
}

// mix returns the mix that an output has if its sound isn't just the speech track.
func (in input) mix(source, frames int) ffmpeg.Mix {
	o := in.job.Options
	m := ffmpeg.Mix{Voice: in.speech.Info, VoiceGain: o.VoiceGain.Factor(), Length: in.length(frames),
		VoiceParts: in.parts(func(o order.Options) float64 { return o.VoiceGain.Factor() })}
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
	o := &ffmpeg.Original{Video: in.video, Gain: options.OriginalGain.Factor(), Span: in.length(source), Speed: 1, Duck: bool(options.Duck)}
	if len(in.job.Segments) > 0 {
		o.Gain, o.Parts = 1, in.parts(func(o order.Options) float64 { return o.OriginalGain.Factor() })
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
