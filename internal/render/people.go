package render

import (
	"context"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/face/tracking"
	"lipsync/internal/render/flow"
	"lipsync/internal/render/footage"
	"lipsync/internal/render/people"
)

// FindPeople analyses a video. o may be nil. stated is the length that the file states, 0 if it states none; with an error, it is 0 unless it is known.
func (r *Renderer) FindPeople(ctx context.Context, video string, o Observer) (a order.Analysis, stated time.Duration, err error) {
	w := work{Renderer: r, by: observed(o)}
	err = failure.Guard(func() error {
		// With Pad, the first pass decodes the whole video.
		in, err := w.inspectVideo(ctx, Job{Video: video, Options: order.Options{SyncMode: order.Pad}}.normal())
		if err != nil {
			return err
		}
		if err := in.checkSize(in.expected(), 0); err != nil {
			return err
		}
		stated = in.video.Duration
		w.by.Measured(stated, 0, in.size(in.expected(), 0))
		a, err = w.people(ctx, in)
		return err
	})
	if ctx.Err() != nil {
		return a, stated, context.Cause(ctx) // other errors only follow from it
	}
	return a, stated, err
}

// people finds the people of the video.
func (w work) people(ctx context.Context, in input) (a order.Analysis, err error) {
	v := in.video.Video
	fps := v.Rate.Float()
	s := w.source(in)
	s.Unkept, s.Output = true, nil // there is no second pass, so no frame is kept or encoded
	found := people.NewGatherer(fps)

	g, ctx := flow.NewGroup(ctx)
	var f footage.Footage
	aligned := people.Align(ctx, g, s, w.NewTracker, &f, new([]tracking.Lost))
	g.Go(func() error {
		progress := w.progress(order.Analyzing, in.expected())
		for f := range aligned {
			found.Add(f)
			progress.done(f.Index + 1)
		}
		return nil
	})
	if err := g.Wait(); err != nil {
		return a, err
	}
	if f.Frames > in.mostOutput() {
		return a, in.limits.TooLong(failure.Video, in.video.Duration)
	}
	if err := in.checkSize(f.Frames, 0); err != nil {
		return a, err
	}
	a.Video = order.AnalyzedVideo{Seconds: order.Rounded(in.length(f.Frames).Seconds()), FPS: order.Rounded(fps), Width: v.Width, Height: v.Height, Frames: f.Frames}
	a.Faces, err = found.Faces(f.Frames, in.length)
	return a, err
}
