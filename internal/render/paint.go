package render

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"lipsync/internal/domain/failure"
	"lipsync/internal/face/occlusion"
	"lipsync/internal/media/ffmpeg"
)

// task is one output frame that is being painted or encoded.
type task struct {
	output int
	frame  []byte
	share  uint8            // see blender.blend
	cover  *occlusion.Cover // what hides the mouth; nil if nothing does
	synced bool             // whether a mouth was blended
	done   chan struct{}    // gets a value when the frame is painted
}

// newTasks returns a task for each buffer. No more frames can be on their way, so the tasks are used again in turn.
func newTasks(frames buffers[[]byte]) []task {
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
func (w work) workers(v *ffmpeg.Video) (painted, all int) {
	room := paintBytes / v.FrameSize()
	painted = min(w.engine.Workers(), max(2, room-beside))
	return painted, max(leastOnWay, min(painted+beside, room))
}

// painting is what the second pass made, besides the file of the output.
type painting struct {
	resumed  int   // number of frames in pieces of earlier attempts
	unsynced []int // the frames in which no mouth was painted
	scored   *scored
}

// paint is the second pass: the player reads frames, workers paint and blend the mouths of several frames at once, and the encoder
// gets the frames in order. With an error, the painting tells only of earlier attempts.
func (w work) paint(ctx context.Context, p plan) (made painting, err error) {
	v := p.input.video.Video
	workers, frames := w.workers(v)
	free := newBuffers(frames, func() []byte { return make([]byte, v.FrameSize()) })
	// Each task goes both to a free worker and into the line for the encoder.
	work, line := make(chan *task), make(chan *task, workers+2)
	scored := newScored(facts{
		frames: p.line.frames, fps: v.Rate.Float(), spoken: p.spoken, due: p.due(), face: p.face, rests: p.seen.faces.restGaps, read: w.ReadLips,
	})

	g, ctx := newGroup(ctx)
	rec, err := w.newRecorder(ctx, p, scored)
	made.resumed = rec.now.From
	if err != nil {
		return made, err
	}
	keeping, stop := context.WithCancel(ctx)
	defer stop()
	g.Go(func() error {
		rec.keepAll(keeping)
		return nil
	})
	g.Go(func() error {
		defer close(work)
		defer close(line)
		return p.play(ctx, made.resumed, free, newTasks(free), line, work)
	})
	for range workers {
		g.Go(func() error {
			b := newBlender(v)
			for t := range work {
				if err := t.paint(ctx, p.painter, b); err != nil {
					return err
				}
				if t.synced && scored.measures(t.output) {
					if err := scored.add(ctx, t.output, b.see(t.frame)); err != nil {
						return err
					}
				}
				t.done <- struct{}{}
			}
			return nil
		})
	}
	g.Go(func() error {
		defer stop()
		return rec.write(ctx, line, free)
	})
	if err := g.Wait(); err != nil {
		rec.encoder.Abort()
		return made, err
	}
	made.scored = scored
	made.unsynced = rec.unsynced()
	return made, nil
}

// play makes a task of each output frame from one on, and sends it to both channels.
func (p plan) play(ctx context.Context, from int, free buffers[[]byte], tasks []task, line, work chan<- *task) error {
	output := from
	return p.seen.footage.play(ctx, p.line, from, free, func(frame []byte) error {
		t := &tasks[output%len(tasks)]
		t.output, t.frame, t.share, t.cover = output, frame, p.share(output), p.cover(output)
		if p.island(output) || p.sight(output) == nothing {
			t.share = 0
		}
		output++
		if err := send(ctx, line, t); err != nil {
			return err
		}
		return send(ctx, work, t)
	})
}

// paint makes a frame's mouths and blends them where they are seen, unless the share is 0.
func (t *task) paint(ctx context.Context, painter Painter, b *blender) (err error) {
	var mouths []Mouth
	if t.share > 0 {
		if mouths, err = painter.Paint(ctx, t.output, b.see(t.frame)); err != nil {
			return fmt.Errorf("mouths of frame %d: %w", t.output, err)
		}
	}
	t.synced = false
	for _, m := range mouths {
		if t.cover == nil || t.cover.Uncover(m.Mask) {
			b.add(t.frame, m, t.share)
			t.synced = true
		}
		if m.Release != nil {
			m.Release()
		}
	}
	return nil
}

// buffers holds the free frames of one pass. Their number is fixed, so a stage that is ahead waits for the stages after it.
type buffers[F any] chan F

func newBuffers[F any](n int, newFrame func() F) buffers[F] {
	b := make(buffers[F], n)
	for range n {
		b <- newFrame()
	}
	return b
}

// get waits for a free frame.
func (b buffers[F]) get(ctx context.Context) (f F, err error) {
	select {
	case f = <-b:
		return f, nil
	case <-ctx.Done():
		return f, ctx.Err()
	}
}

func (b buffers[F]) put(f F) { b <- f }

// send sends v, unless the context ends first.
func send[T any](ctx context.Context, c chan<- T, v T) error {
	select {
	case c <- v:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// sendAll sends each of the values, unless the context ends first.
func sendAll[T any](ctx context.Context, c chan<- T, values []T) error {
	for _, v := range values {
		if err := send(ctx, c, v); err != nil {
			return err
		}
	}
	return nil
}

// group is an errgroup.Group in which a panic becomes an error: a panic that the media of one job cause must not end other jobs.
type group struct{ *errgroup.Group }

func newGroup(ctx context.Context) (group, context.Context) {
	g, ctx := errgroup.WithContext(ctx)
	return group{g}, ctx
}

// Go calls f in a goroutine.
func (g group) Go(f func() error) { g.Group.Go(func() error { return failure.Guard(f) }) }
