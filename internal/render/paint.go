package render

import (
	"context"
	"fmt"

	"lipsync/internal/domain/order"
	"lipsync/internal/face/occlusion"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render/blend"
	"lipsync/internal/render/engine"
	"lipsync/internal/render/flow"
	"lipsync/internal/render/recording"
	"lipsync/internal/render/syncscore"
)

// task is one output frame that is being painted or encoded.
type task struct {
	output int
	frame  []byte
	share  uint8            // of the mask: see Blend of blend.Blender
	cover  *occlusion.Cover // what hides the mouth; nil if nothing does
	synced bool             // whether a mouth was blended
	done   chan struct{}    // gets a value when the frame is painted
}

// newTasks returns a task for each buffer. No more frames can be on their way, so the tasks are used again in turn.
func newTasks(frames flow.Buffers[[]byte]) []task {
	tasks := make([]task, cap(frames))
	for i := range tasks {
		tasks[i].done = make(chan struct{}, 1)
	}
	return tasks
}

const (
	paintBytes = 256 << 20 // bytes of frames on their way, at most
	beside     = 6         // number of frames on their way, besides those that workers paint
	leastOnWay = 4         // number of frames on their way, also of the largest
)

// workers returns the number of frames that are painted at once, and that of all frames on their way. The first is the engine's Workers,
// or fewer if frames are large.
func (w work) workers(v *medium.Video) (painted, all int) {
	room := paintBytes / v.FrameSize()
	painted = min(w.engine.Workers(), max(2, room-beside))
	return painted, max(leastOnWay, min(painted+beside, room))
}

// painting is what the second pass made, besides the file of the output.
type painting struct {
	resumed  int   // number of frames in pieces of earlier attempts
	unsynced []int // the frames in which no mouth was painted
	scored   *syncscore.Scorer
	poster   []byte // see Result
	noPoster error
}

// paint is the second pass: the player reads frames, workers paint and blend the mouths of several frames at once, and the encoder
// gets the frames in order. With an error, the painting tells only of earlier attempts.
func (w work) paint(ctx context.Context, p plan) (made painting, err error) {
	v := p.input.video.Video
	workers, frames := w.workers(v)
	free := flow.NewBuffers(frames, func() []byte { return make([]byte, v.FrameSize()) })
	// Each task goes both to a free worker and into the line for the encoder.
	work, line := make(chan *task), make(chan *task, workers+2)
	scored := syncscore.New(syncscore.Output{
		Frames: p.line.Frames, FPS: v.Rate.Float(), Spoken: p.spoken, Due: p.due(), Seen: p.face, Rests: p.seen.Faces.RestGaps, Read: w.ReadLips,
	})

	g, ctx := flow.NewGroup(ctx)
	rec, err := w.record(ctx, p, scored)
	made.resumed = rec.Next()
	if err != nil {
		return made, err
	}
	shown := -1 // on the poster: the frame in the middle or, if that is in a piece, the first after the pieces
	if p.input.job.Poster {
		shown = max(p.line.Frames/2, made.resumed)
	}
	keeping, stop := context.WithCancel(ctx)
	defer stop()
	g.Go(func() error {
		rec.KeepAll(keeping)
		return nil
	})
	g.Go(func() error {
		defer close(work)
		defer close(line)
		return p.play(ctx, made.resumed, free, newTasks(free), line, work)
	})
	for range workers {
		g.Go(func() error {
			b := blend.New(v)
			for t := range work {
				if err := t.paint(ctx, p.painter, b); err != nil {
					return err
				}
				if t.synced && scored.Measures(t.output) {
					if err := scored.Add(ctx, t.output, b.See(t.frame)); err != nil {
						return err
					}
				}
				if t.output == shown {
					made.poster, made.noPoster = posterOf(b.See(t.frame))
				}
				t.done <- struct{}{}
			}
			return nil
		})
	}
	g.Go(func() error {
		defer stop()
		return w.write(ctx, rec, p.line.Frames, line, free)
	})
	if err := g.Wait(); err != nil {
		rec.Abort()
		return made, err
	}
	made.scored = scored
	made.unsynced = rec.Unsynced()
	return made, nil
}

// record begins to record an output. It is made in pieces if the job keeps them, and if the disk has room for both the pieces and the joined file.
func (w work) record(ctx context.Context, p plan, s *syncscore.Scorer) (*recording.Recorder, error) {
	in, frames := p.input, p.line.Frames
	o := recording.Output{
		Media: w.Media, Video: in.video.Video, Form: in.job.Options.Output, Frames: frames, Sound: p.sound.Whole, Path: in.job.Output, Scorer: s, Dir: w.dir,
		Plan: p.sum, PieceTime: in.job.PieceTime, Now: w.clock, Unkept: w.by.Unkept,
	}
	if p.sum != "" {
		o.Pieces = in.job.Pieces
	}
	return recording.New(ctx, o)
}

// write records painted frames in their order.
func (w work) write(ctx context.Context, rec *recording.Recorder, frames int, line <-chan *task, free flow.Buffers[[]byte]) error {
	progress := w.progress(order.Rendering, frames)
	for t := range line {
		select {
		case <-t.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := rec.Add(ctx, t.frame, t.synced); err != nil {
			return err
		}
		output := t.output
		free.Put(t.frame) // and the task with it
		progress.done(output + 1)
	}
	if err := ctx.Err(); err != nil {
		return err // the frames ended early
	}
	return rec.Finish(ctx)
}

// play makes a task of each output frame from one on, and sends it to both channels.
func (p plan) play(ctx context.Context, from int, free flow.Buffers[[]byte], tasks []task, line, work chan<- *task) error {
	output := from
	return p.seen.footage.Play(ctx, p.line, from, free, func(frame []byte) error {
		t := &tasks[output%len(tasks)]
		t.output, t.frame, t.share, t.cover = output, frame, p.share(output), p.cover(output)
		if p.island(output) || p.sight(output) == nothing {
			t.share = 0
		}
		output++
		if err := flow.Send(ctx, line, t); err != nil {
			return err
		}
		return flow.Send(ctx, work, t)
	})
}

// paint makes a frame's mouths and blends them where they are seen, unless the share is 0.
func (t *task) paint(ctx context.Context, painter engine.Painter, b *blend.Blender) (err error) {
	var mouths []engine.Mouth
	if t.share > 0 {
		if mouths, err = painter.Paint(ctx, t.output, b.See(t.frame)); err != nil {
			return fmt.Errorf("mouths of frame %d: %w", t.output, err)
		}
	}
	t.synced = false
	for _, m := range mouths {
		if t.cover == nil || t.cover.Uncover(m.Mask) {
			b.Blend(m, t.share)
			t.synced = true
		}
		if m.Release != nil {
			m.Release()
		}
	}
	return nil
}
