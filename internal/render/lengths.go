package render

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"lipsync/internal/ffmpeg"
	"lipsync/internal/lipsync"
)

// most returns the largest number of source frames that the first pass needs. In the modes that refuse a long video it is one more
// than they allow, which shows that the video is too long.
func (w *rendering) most() int {
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

// fitSound makes the encoded speech track as long as the output, and appends silence to samples that are shorter. It leaves longer
// samples as they are, since an engine may listen ahead.
func (w *rendering) fitSound(ctx context.Context) error {
	if w.frames == w.speech {
		return nil
	}
	length := w.length(w.frames)
	if _, err := w.Tools.TranscodeTo(ctx, w.audio, w.aac, io.Discard, length); err != nil {
		return fmt.Errorf("decode audio again: %w", err)
	}
	if samples := int64(length.Seconds() * ffmpeg.PCMRate); samples > w.samples {
		w.samples = samples
		return os.Truncate(w.pcm, 2*samples) // appends zeros
	}
	return nil
}
