package render

import (
	"context"
	"fmt"

	"lipsync/internal/face/occlusion"
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
func (w *rendering) workers() (painted, all int) {
	room := paintBytes / w.video.Video.FrameSize()
	painted = min(w.engine.Workers(), max(2, room-beside))
	return painted, max(leastOnWay, min(painted+beside, room))
}

// paint is the second pass: the player reads frames, workers paint and blend the mouths of several frames at once, and the encoder
// gets the frames in order. shares has the share of each output frame for blender.blend; nil means 255 for all. cover returns what hides
// the mouth in an output frame; nil means that nothing hides any.
func (w *rendering) paint(ctx context.Context, painter Painter, p *player, shares []uint8, cover func(output int) *occlusion.Cover) error {
	v := w.video.Video
	workers, frames := w.workers()
	free := newBuffers(frames, func() []byte { return newFrame(v) })
	tasks := newTasks(free)
	// Each task goes both to a free worker and into the line for the encoder.
	work, line := make(chan *task), make(chan *task, workers+2)

	g, ctx := newGroup(ctx)
	rec, err := w.newRecorder(ctx)
	if err != nil {
		return err
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
		output := rec.now.From
		return p.play(ctx, output, free, func(frame []byte) error {
			t := &tasks[output%len(tasks)]
			t.output, t.frame, t.share, t.cover = output, frame, 255, nil
			if shares != nil {
				t.share = shares[output]
			}
			if cover != nil {
				t.cover = cover(output)
			}
			output++
			if err := send(ctx, line, t); err != nil {
				return err
			}
			return send(ctx, work, t)
		})
	})
	for range workers {
		g.Go(func() error {
			b := newBlender(v, p.tones)
			for t := range work {
				if err := b.paint(ctx, painter, t); err != nil {
					return err
				}
				w.scored.add(t, b)
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
		return err
	}
	return nil
}

// paint makes a frame's mouths and blends them where they are seen, unless the task's share is 0.
func (b *blender) paint(ctx context.Context, painter Painter, t *task) (err error) {
	var mouths []Mouth
	if t.share > 0 {
		b.see(t.frame)
		if mouths, err = painter.Paint(ctx, t.output, &b.picture); err != nil {
			return fmt.Errorf("mouths of frame %d: %w", t.output, err)
		}
	}
	t.synced = false
	for _, m := range mouths {
		if t.cover == nil || t.cover.Uncover(m.Mask) {
			if b.video.Pixels.Deep() {
				b.blendDeep(t.frame, m, t.share)
			} else {
				b.blend(&b.picture, m, t.share)
			}
			t.synced = true
		}
		if m.Release != nil {
			m.Release()
		}
	}
	return nil
}
