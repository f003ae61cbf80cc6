package render

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"lipsync/internal/ffmpeg"
	"lipsync/internal/lipsync"
)

// most returns the largest number of source frames that the first pass needs. In the modes that refuse a long video it is one more
// than they allow, which shows that the video is too long.
func (w *rendering) most() int {
	if w.video.Still {
		return 1
	}
	switch w.job.Options.SyncMode {
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
	return w.video.Video.Rate.Frames(int64(w.Limits.Duration.Seconds()*ffmpeg.PCMRate), ffmpeg.PCMRate)
}

// length returns how long a number of frames plays.
func (w *rendering) length(frames int) time.Duration {
	return time.Duration(float64(frames) / w.video.Video.Rate.Float() * float64(time.Second))
}

// timeline returns the timeline of the output. It fails if the options don't allow an output of these media.
func (w *rendering) timeline(a *analysis) (line timeline, err error) {
	source, mode := a.source.frames, w.job.Options.SyncMode
	switch {
	case w.video.Still: // it has no length, so each mode shows it as long as somebody speaks
		mode = lipsync.Bounce
	case mode == lipsync.Pad && source > w.mostOutput():
		return line, w.Limits.tooLong(lipsync.Video, w.video.Duration)
	case mode == lipsync.Remap && max(source, w.speech) > lipsync.MostSpeed*min(source, w.speech):
		return line, w.tooFast(source)
	}
	line = newTimeline(mode, source, w.speech, a.cuts)
	if w.job.Options.NoFace != lipsync.FailFaceless {
		return line, nil
	}
	face := a.speaker.Largest()
	for o := range line.frames {
		if i := line.source(o); face(i) < 0 {
			f := lipsync.Failure{Code: lipsync.FaceMissing}
			f.Value.Seconds = w.length(i).Seconds()
			return line, f.Because(nil)
		}
	}
	return line, nil
}

// tooFast returns the failure of a video that would have to play too fast or too slowly. If the video is long, not all of its
// frames were decoded. Then the speed comes from the length that the file states, and it is not known if the file states none.
func (w *rendering) tooFast(source int) error {
	v := w.video.Video
	f := lipsync.Failure{Code: lipsync.SpeedOutOfRange}
	f.Limit.Speed, f.Value.Speed = lipsync.MostSpeed, float64(source)/float64(w.speech)
	if source > w.speech {
		f.Value.Speed = 0
		if stated := int(cmp.Or(v.Stated, w.video.Duration).Seconds() * v.Rate.Float()); stated > 0 {
			f.Value.Speed = float64(max(source, stated)) / float64(w.speech)
		}
	}
	return f.Because(nil)
}

// finishSound makes the encoded sound of the output from the speech track and the sound of the video, of which source frames are
// shown. It appends silence to samples that are shorter than the output, and leaves longer ones as they are, since an engine may
// listen ahead.
func (w *rendering) finishSound(ctx context.Context, source int) error {
	length := w.length(w.frames)
	switch {
	case w.job.Options.MixesSound():
		if err := w.Tools.Mix(ctx, w.mix(source, length), filepath.Join(w.dir, "original.wav"), w.aac); err != nil {
			return fmt.Errorf("mix: %w", err)
		}
	case w.frames == w.speech:
		return nil
	default:
		if _, err := w.Tools.TranscodeTo(ctx, w.audio, w.aac, io.Discard, length); err != nil {
			return fmt.Errorf("decode audio again: %w", err)
		}
	}
	if samples := int64(length.Seconds() * ffmpeg.PCMRate); samples > w.samples {
		w.samples = samples
		return os.Truncate(w.pcm, 2*samples) // appends zeros
	}
	return nil
}

// mix returns the sound of an output of a length. The video's sound follows its frames, except that it never plays backward: where
// the sync mode is Bounce, it starts again as with Loop.
func (w *rendering) mix(source int, length time.Duration) ffmpeg.Mix {
	o := w.job.Options
	m := ffmpeg.Mix{Voice: w.audio, VoiceGain: o.VoiceGain.Gain(), OriginalGain: float64(o.OriginalGain), Duck: bool(o.Duck), Length: length, Speed: 1}
	if w.soundless() || o.OriginalGain == 0 {
		return m
	}
	m.Original = w.video
	switch {
	case o.SyncMode == lipsync.Remap:
		m.Span, m.Speed = w.length(source), float64(source)/float64(w.frames)
	case w.frames > source:
		m.Span, m.Repeat = w.length(source), o.SyncMode == lipsync.Bounce || o.SyncMode == lipsync.Loop
	default:
		m.Span = length
	}
	return m
}

// soundless reports whether the options ask for the video's sound, but it has none.
func (w *rendering) soundless() bool {
	return w.job.Options.OriginalGain != 0 && w.video.Audio == nil
}
