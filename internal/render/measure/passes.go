package measure

import (
	"context"
	"errors"
	"image"
	"io"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"lipsync/internal/domain/order"
	"lipsync/internal/face/alignment"
	"lipsync/internal/face/occlusion"
	"lipsync/internal/face/tracking"
	"lipsync/internal/render/engine"
	"lipsync/internal/sound/speaker"
)

// held is the number of frames that are kept in memory while stages are measured on them.
const held = 100

// eachBatch decodes the video and calls f with up to held frames at a time. first is the
// index of the first of them. eachBatch returns the number of all frames.
func (m *measurement) eachBatch(ctx context.Context, stage string, f func(first int, batch []*image.YCbCr) error) (frames int, err error) {
	decoder, err := m.renderer.Media.OpenFrames(ctx, m.info, 1<<30)
	if err != nil {
		return 0, err
	}
	defer decoder.Close()
	buffers := make([]*image.YCbCr, held)
	for i := range buffers {
		buffers[i] = m.info.Video.NewFrame()
	}
	for n := held; n == held; frames += n {
		n = 0
		err := m.add(stage, func() error {
			for ; n < held; n++ {
				if err := decoder.Read(buffers[n]); err == io.EOF {
					return nil
				} else if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
		if err := f(frames, buffers[:n]); err != nil {
			return 0, err
		}
	}
	return frames, nil
}

// firstPass measures decoding, tracking, alignment and analysis.
func (m *measurement) firstPass(ctx context.Context, engine engine.Analyser, speakers *speaker.Analyser) (err error) {
	fps := m.info.Video.Rate.Float()
	tracker, aligner := m.renderer.NewTracker(fps), alignment.NewAligner(fps)
	hidden := occlusion.New()
	analyse := func(align func() []alignment.Frame) error {
		var aligned []alignment.Frame
		if err := m.add("align", func() error { aligned = align(); return nil }); err != nil {
			return err
		}
		return m.add("analyse", func() error {
			for _, f := range aligned {
				speakers.Add(f)
				hidden.Add(f)
				if err := engine.Add(f); err != nil {
					return err
				}
			}
			return nil
		})
	}
	m.Frames, err = m.eachBatch(ctx, "decode", func(_ int, batch []*image.YCbCr) error {
		seen := make([]*tracking.Seen, len(batch))
		err := m.add("track", func() (err error) {
			all, ctx := errgroup.WithContext(ctx)
			for i, frame := range batch {
				if seen[i], err = tracker.Add(ctx, frame); err != nil {
					return errors.Join(err, all.Wait())
				}
				all.Go(func() error { return seen[i].Place(ctx, frame) })
			}
			return all.Wait()
		})
		if err != nil {
			return err
		}
		return analyse(func() (aligned []alignment.Frame) {
			for i := range batch {
				aligned = append(aligned, aligner.Add(seen[i].Faces, seen[i].Cut)...)
			}
			return aligned
		})
	})
	if err != nil {
		return err
	}
	if err := analyse(aligner.End); err != nil {
		return err
	}
	return m.add("analyse", func() error { hidden.End(); return nil })
}

// secondPass measures decoding again, painting and encoding.
func (m *measurement) secondPass(ctx context.Context, painter engine.Painter, sound string) error {
	encoder, err := m.renderer.Media.Encode(ctx, m.info.Video, order.Output{}, sound, filepath.Join(m.scratch, "out.mp4"))
	if err != nil {
		return err
	}
	_, err = m.eachBatch(ctx, "decode-again", func(first int, batch []*image.YCbCr) error {
		if err := m.add("paint", func() error { return m.paint(ctx, painter, first, batch) }); err != nil {
			return err
		}
		return m.add("encode", func() error {
			for _, frame := range batch {
				if err := encoder.Write(frame); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		encoder.Abort()
		return err
	}
	return m.add("encode", encoder.Finish)
}

// paint makes the mouths of frames, in as many frames at once as the engine asks for. It
// doesn't blend them into the frames, which would take little time.
func (m *measurement) paint(ctx context.Context, painter engine.Painter, first int, batch []*image.YCbCr) error {
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(m.engine.Workers())
	for i, frame := range batch {
		all.Go(func() error {
			mouths, err := painter.Paint(ctx, first+i, frame)
			for _, mouth := range mouths {
				if mouth.Release != nil {
					mouth.Release()
				}
			}
			return err
		})
	}
	return all.Wait()
}
