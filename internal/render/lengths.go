package render

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"lipsync/internal/ffmpeg"
	"lipsync/internal/lipsync"
)

// most returns the most source frames that the first pass needs. If there are more than the output may show, one more is enough
// to know it.
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

// mostOutput returns the most frames of an output: as many as the longest speech track covers.
func (w *rendering) mostOutput() int {
	return w.video.Video.Rate.Frames(int64(w.Limits.Duration.Seconds()*ffmpeg.PCMRate), ffmpeg.PCMRate)
}

// length returns the length of a number of frames.
func (w *rendering) length(frames int) time.Duration {
	return time.Duration(float64(frames) / w.video.Video.Rate.Float() * float64(time.Second))
}

// timeline returns the timeline of the output, or the failure of media that it can't be made of.
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

// tooFast returns the failure of a video that would have to play too fast or too slowly. Of a long one not all frames were
// decoded; then the length that the file states may tell how fast.
func (w *rendering) tooFast(source int) error {
	v := w.video.Video
	if source > w.speech {
		source = max(source, int(v.Stated.Seconds()*v.Rate.Float()))
	}
	f := lipsync.Failure{Code: lipsync.SpeedOutOfRange}
	f.Limit.Speed, f.Value.Speed = lipsync.MostSpeed, float64(source)/float64(w.speech)
	return f.Because(nil)
}

// fitSound makes the speech track as long as the output, if that isn't as long as the speech. The samples of a longer speech track
// stay: an engine may hear what comes next.
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
		return os.Truncate(w.pcm, 2*samples) // what is new is zero
	}
	return nil
}
