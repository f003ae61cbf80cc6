package render

import (
	"context"
	"errors"
	"os"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/media/ffmpeg"
)

// Estimate inspects the job's media as Render does, and says how large its output will be, or for what problems Render would fail. It decodes no
// frame, so it knows nothing about faces, and takes the stated length of the video. Of the job it uses no Output.
func (r *Renderer) Estimate(ctx context.Context, j Job) (e lipsync.Estimate, err error) {
	w, err := r.begin(j, nil)
	if err == nil {
		defer os.RemoveAll(w.dir)
		err = Guard(func() (err error) {
			e, err = w.estimate(ctx)
			return err
		})
	}
	switch {
	case ctx.Err() != nil:
		return e, context.Cause(ctx) // other errors only follow from it
	case errors.Is(err, ffmpeg.ErrNotRun):
		return e, lipsync.Failure{Code: lipsync.HostFailing}.Because(err)
	case err != nil:
		e.Problems, err = lipsync.Problems(err)
	}
	return e, err
}

// estimate makes the estimate. An error may be a problem.
func (w *rendering) estimate(ctx context.Context) (e lipsync.Estimate, err error) {
	e.Problems, err = lipsync.Problems(w.checkCodec(ctx), w.inspectVideo(ctx), w.inspectAudio(ctx))
	if err != nil || e.Problems != nil {
		return e, err
	}
	w.speech = w.video.Video.Rate.Frames(w.samples, ffmpeg.PCMRate)
	if err := w.readBoxes(ctx); err != nil {
		return e, err
	}
	source := max(1, w.expected())
	line, err := w.timelineFor(source, nil)
	if err != nil {
		return e, err
	}
	w.frames = line.frames
	return lipsync.Estimate{
		VideoSeconds: round(w.video.Duration.Seconds()), AudioSeconds: round(w.audioLength().Seconds()),
		OutputSeconds: round(w.length(w.frames).Seconds()), Frames: w.frames, Size: w.size(source),
	}, w.checkSize()
}
