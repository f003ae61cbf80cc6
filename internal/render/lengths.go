package render

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/media/ffmpeg"
)

// most returns the largest number of source frames that the first pass needs.
func (w *rendering) most() int {
	if w.video.Still {
		return 1
	}
	most := w.mostOf(w.job.Options.SyncMode)
	if part := w.job.Options.Preview.Length; part > 0 {
		most = min(most, w.framesOf(part))
	}
	return most
}

// limit returns the largest number of source frames that the first pass decodes. If the output needs at least three quarters of the length
// that a video states, the first pass analyses the whole video. So jobs whose speech tracks differ a little in length find out the same.
func (w *rendering) limit() int {
	n := w.most()
	if w.video.Still || w.video.Begin > 0 || w.job.Options.Preview.Length > 0 {
		return n
	}
	if stated := w.framesOf(w.video.Duration); stated > 0 && 4*n >= 3*stated {
		return max(n, w.mostOutput()+1)
	}
	return n
}

// mostOf returns the largest number of source frames that a sync mode needs. In the modes that refuse a long video it is one more than
// they allow, which shows that the video is too long.
func (w *rendering) mostOf(mode lipsync.SyncMode) int {
	switch mode {
	case lipsync.Pad:
		return w.mostOutput() + 1
	case lipsync.Remap:
		return lipsync.MostSpeed*w.speech + 1
	default:
		return w.speech
	}
}

// mostOutput returns the largest number of frames of an output: that of the longest speech track that the limits allow.
func (w *rendering) mostOutput() int {
	return w.framesOf(w.Limits.Duration)
}

// framesOf returns the number of frames for a sound of a length.
func (w *rendering) framesOf(length time.Duration) int {
	return w.video.Video.Rate.Frames(int64(length.Seconds()*ffmpeg.PCMRate), ffmpeg.PCMRate)
}

// length returns how long a number of frames plays.
func (w *rendering) length(frames int) time.Duration {
	return time.Duration(float64(frames) / w.video.Video.Rate.Float() * float64(time.Second))
}

// timeline returns the timeline of the output. It fails if the options don't allow an output of these media.
func (w *rendering) timeline(a *analysis) (line timeline, err error) {
	if line, err = w.timelineFor(a.frames, a.cuts); err != nil || w.job.Options.NoFace != lipsync.FailFaceless {
		return line, err
	}
	face := a.largest()
	for o := range line.frames {
		if i := line.source(o); face(i) < 0 && (len(w.job.Segments) == 0 || w.segmentAt(o) != nil) {
			f := lipsync.Failure{Code: lipsync.FaceMissing}
			f.Value.Seconds = (w.video.Begin + w.length(i)).Seconds()
			return line, f.Because(nil)
		}
	}
	return line, nil
}

// timelineFor returns the timeline for a video of a number of frames, in some of which shots begin. It fails if the options don't allow an output of
// these lengths.
func (w *rendering) timelineFor(source int, cuts []int) (line timeline, err error) {
	mode := w.job.Options.SyncMode
	switch {
	case w.video.Still: // it has no length, so each mode shows it as long as somebody speaks
		mode = lipsync.Bounce
	case mode == lipsync.Pad && source > w.mostOutput():
		return line, w.Limits.tooLong(lipsync.Video, w.video.Duration)
	case mode == lipsync.Remap && max(source, w.speech) > lipsync.MostSpeed*min(source, w.speech):
		return line, w.tooFast(source)
	}
	speech := w.speech
	if len(w.job.Segments) > 0 {
		if part := w.job.Options.Preview.Length; part == 0 || source < w.framesOf(part) {
			if err := w.checkSegments(w.video.Begin + w.length(source)); err != nil {
				return line, err
			}
		}
		if !w.video.Still {
			speech = source // the output is as long as the video
		}
	}
	return newTimeline(mode, source, speech, cuts), nil
}

// tooFast returns the failure of a video that would have to play too fast or too slowly. If the video is long, not all of its
// frames were decoded. Then the speed comes from the length that the file states, and it is not known if the file states none.
func (w *rendering) tooFast(source int) error {
	v := w.video.Video
	f := lipsync.Failure{Code: lipsync.SpeedOutOfRange}
	f.Limit.Speed, f.Value.Speed = lipsync.MostSpeed, float64(source)/float64(w.speech)
	if source > w.speech {
		f.Value.Speed = 0
		part := cmp.Or(w.job.Options.Preview.Length, w.Limits.Duration)
		if stated := int(min(part, cmp.Or(v.Stated, w.video.Duration)-w.video.Begin).Seconds() * v.Rate.Float()); stated > 0 {
			f.Value.Speed = float64(max(source, stated)) / float64(w.speech)
		}
	}
	return f.Because(nil)
}

// finishSound makes the encoded sound of the output from the speech track and the video's own sound. source is the number of the
// video's frames. It appends silence to samples that are shorter than the output, and leaves longer ones as they are, since an engine
// may listen ahead.
func (w *rendering) finishSound(ctx context.Context, source int) error {
	length := w.length(w.frames)
	mixed, err := w.mix(ctx, source, length)
	if err != nil {
		return fmt.Errorf("mix: %w", err)
	}
	if w.frames == w.speech { // then the speech track ends in the last frame
		return nil
	}
	if !mixed {
		if _, err := w.Tools.TranscodeTo(ctx, w.audio, w.encoded, io.Discard, length); err != nil {
			return fmt.Errorf("decode audio again: %w", err)
		}
	}
	if samples := int64(length.Seconds() * ffmpeg.PCMRate); samples > w.samples {
		w.samples = samples
		return os.Truncate(w.pcm, 2*samples) // appends zeros
	}
	return nil
}

// mix makes the encoded sound of an output of a length, unless that is just the speech track. If the options ask for the video's own
// sound, and it can't be used, it adds a warning.
func (w *rendering) mix(ctx context.Context, source int, length time.Duration) (mixed bool, err error) {
	o := w.job.Options
	m := ffmpeg.Mix{Voice: w.audio, VoiceGain: o.VoiceGain.Gain(), Length: length,
		VoiceParts: w.parts(func(o lipsync.Options) float64 { return o.VoiceGain.Gain() })}
	if o.OriginalGain != 0 || len(w.job.Segments) > 0 {
		m.Original = w.original(source, length)
	}
	scratch := filepath.Join(w.dir, "original.wav")
	if m.Original != nil {
		err := w.Tools.Mix(ctx, m, scratch, w.encoded)
		if !errors.Is(err, ffmpeg.ErrUnsupported) {
			return err == nil, err
		}
		m.Original = nil
	}
	if w.hasOption(func(o lipsync.Options) bool { return o.OriginalGain != 0 }) || len(w.job.Segments) > 0 && w.video.Audio != nil {
		w.warnings = w.warnings.With(lipsync.NoOriginalSound)
	}
	if !w.hasOption(func(o lipsync.Options) bool { return o.VoiceGain != 0 }) {
		return false, nil
	}
	err = w.Tools.Mix(ctx, m, scratch, w.encoded)
	return err == nil, err
}

// original returns the video's own sound in an output of a length, nil if it has none. The sound follows the frames, except that it
// never plays backward: where the sync mode is Bounce, it starts again.
func (w *rendering) original(source int, length time.Duration) *ffmpeg.Original {
	if w.video.Audio == nil {
		return nil
	}
	options := w.job.Options
	o := &ffmpeg.Original{Video: w.video, Gain: float64(options.OriginalGain), Span: w.length(source), Speed: 1, Duck: bool(options.Duck)}
	if len(w.job.Segments) > 0 {
		o.Gain, o.Parts = 1, w.parts(func(o lipsync.Options) float64 { return float64(o.OriginalGain) })
	}
	switch {
	case options.SyncMode == lipsync.Remap:
		o.Speed = float64(source) / float64(w.frames)
	case w.frames <= source:
		o.Span = length
	case options.SyncMode == lipsync.Bounce: // neither the first nor the last frame is shown twice in a row
		o.Span, o.Repeat = w.length(max(1, source-1)), true
	case options.SyncMode == lipsync.Loop:
		o.Repeat = true
	}
	return o
}
