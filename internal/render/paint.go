package render

import (
	"context"
	"fmt"
	"image"

	"lipsync/internal/ffmpeg"
	"lipsync/internal/lipsync"
	"lipsync/internal/occlusion"
)

// task is one output frame that is being painted or encoded.
type task struct {
	output int
	frame  *image.YCbCr
	share  uint8            // see blender.blend
	cover  *occlusion.Cover // what hides the mouth; nil if nothing does
	synced bool             // whether a mouth was blended
	done   chan struct{}    // gets a value when the frame is painted
}

// newTasks returns a task for each buffer. No more frames can be on their way, so the tasks are used again in turn.
func newTasks(frames buffers) []task {
	tasks := make([]task, cap(frames))
	for i := range tasks {
		tasks[i].done = make(chan struct{}, 1)
	}
	return tasks
}

const (
	paintBytes = 256 << 20 // bytes of frames on their way, at most
	beside     = 6         // number of frames on their way, besides those that workers paint
)

// workers returns the number of frames that are painted at once: the engine's Workers, or fewer if frames are large.
func (w *rendering) workers() int {
	v := w.video.Video
	room := paintBytes / (v.Width * v.Height * 3 / 2)
	return min(w.engine.Workers(), max(2, room-beside))
}

// paint is the second pass: the player reads frames, workers paint and blend the mouths of several frames at once, and the encoder
// gets the frames in order. shares has the share of each output frame for blender.blend; nil means 255 for all. cover returns what hides
// the mouth in an output frame; nil means that nothing hides any.
func (w *rendering) paint(ctx context.Context, painter Painter, p *player, shares []uint8, cover func(output int) *occlusion.Cover) error {
	workers := w.workers()
	free := newBuffers(w.video.Video, workers+beside)
	tasks := newTasks(free)
	// Each task goes both to a free worker and into the line for the encoder.
	work, line := make(chan *task), make(chan *task, workers+2)

	g, ctx := newGroup(ctx)
	encoder, err := w.Tools.Encode(ctx, w.video.Video, w.job.Options.Output, w.encoded, w.job.Output)
	if err != nil {
		return err
	}
	g.Go(func() error {
		defer close(work)
		defer close(line)
		output := 0
		return p.play(ctx, free, func(frame *image.YCbCr) error {
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
			var b blender
			for t := range work {
				if err := b.paint(ctx, painter, t); err != nil {
					return err
				}
				w.scored.add(t)
				t.done <- struct{}{}
			}
			return nil
		})
	}
	g.Go(func() error { return w.write(ctx, encoder, line, free) })
	if err := g.Wait(); err != nil {
		encoder.Abort()
		return err
	}
	return nil
}

// paint makes a frame's mouths and blends them where they are seen, unless the task's share is 0.
func (b *blender) paint(ctx context.Context, painter Painter, t *task) (err error) {
	var mouths []Mouth
	if t.share > 0 {
		if mouths, err = painter.Paint(ctx, t.output, t.frame); err != nil {
			return fmt.Errorf("mouths of frame %d: %w", t.output, err)
		}
	}
	t.synced = false
	for _, m := range mouths {
		if t.cover == nil || t.cover.Uncover(m.Mask) {
			b.blend(t.frame, m, t.share)
			t.synced = true
		}
		if m.Release != nil {
			m.Release()
		}
	}
	return nil
}

// write encodes painted frames in their order and completes the file.
func (w *rendering) write(ctx context.Context, encoder *ffmpeg.Encoder, line <-chan *task, free buffers) error {
	progress := w.progress(lipsync.Rendering, w.frames)
	for t := range line {
		select {
		case <-t.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := encoder.Write(t.frame); err != nil {
			return err
		}
		if t.synced {
			w.synced++
		}
		output := t.output
		free.put(t.frame) // and the task with it
		progress.done(output + 1)
	}
	if err := ctx.Err(); err != nil {
		return err // the frames ended early
	}
	return encoder.Finish()
}
