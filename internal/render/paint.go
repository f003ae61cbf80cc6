package render

import (
	"context"
	"fmt"
	"image"

	"lipsync/internal/ffmpeg"
)

// task is one output frame on its way.
type task struct {
	output int
	frame  *image.YCbCr
	done   chan struct{} // closed when the frame is painted
}

// paint is the second pass: the player decodes, workers make and blend the
// mouths of several frames at once, and the encoder gets them in order.
func (w *rendering) paint(ctx context.Context, session Session, p *player) error {
	workers := w.engine.Workers()
	free := newBuffers(w.video.Video, workers+6)
	// Each task goes both to whoever is free and into the line for the encoder.
	work, line := make(chan *task), make(chan *task, workers+2)

	g, ctx := newGroup(ctx)
	encoder, err := w.Tools.Encode(ctx, w.video.Video, w.aac, w.job.Output)
	if err != nil {
		return err
	}
	g.Go(func() error {
		defer close(work)
		defer close(line)
		output := 0
		return p.play(ctx, free, func(frame *image.YCbCr) error {
			t := &task{output, frame, make(chan struct{})}
			output++
			if err := send(ctx, line, t); err != nil {
				return err
			}
			return send(ctx, work, t)
		})
	})
	for range workers {
		g.Go(func() error {
			for t := range work {
				if err := blendMouths(ctx, session, t); err != nil {
					return err
				}
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

func blendMouths(ctx context.Context, session Session, t *task) error {
	mouths, err := session.Mouths(ctx, t.output, t.frame)
	if err != nil {
		return fmt.Errorf("mouths of frame %d: %w", t.output, err)
	}
	for _, m := range mouths {
		blend(t.frame, m)
		if m.Release != nil {
			m.Release()
		}
	}
	close(t.done)
	return nil
}

// write encodes painted frames in their order and completes the file.
func (w *rendering) write(ctx context.Context, encoder *ffmpeg.Encoder, line <-chan *task, free buffers) error {
	progress := w.progress("rendering", w.frames)
	for t := range line {
		select {
		case <-t.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := encoder.Write(t.frame); err != nil {
			return err
		}
		free.give(t.frame)
		progress.done(t.output + 1)
	}
	if err := ctx.Err(); err != nil {
		return err // the line ended early
	}
	return encoder.Finish()
}
