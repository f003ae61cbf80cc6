package render

import (
	"context"
	"fmt"
	"hash/crc32"
	"image"
	"io"
	"time"

	"lipsync/internal/face"
	"lipsync/internal/speaker"
	"lipsync/internal/speech"
)

// seen is what the first pass learns.
type seen struct {
	sums   []uint32 // of each source frame that the output shows
	cast   *speaker.Cast
	speech *speech.Speech
	sound  *speech.Speech // the source's own, nil if it has none
}

// unheard is how many windows wait for the sound, which is analysed long before a
// picture as long: each is a face of up to 4 s, of up to 1.3 MB.
const unheard = 32

// observe is the first pass: decode, track and observe every frame that the
// output shows, each stage in its own goroutine, and analyse the sound beside.
func (w *rendering) observe(ctx context.Context, session Session) (*seen, error) {
	v := w.video.Video
	tracker, err := w.newTracker(ctx)
	if err != nil {
		return nil, fmt.Errorf("face tracker: %w", err)
	}
	s := &seen{cast: speaker.New(v.Rate.Float(), w.network())}
	free := newBuffers(v, 6)
	decoded, tracked := make(chan *image.YCbCr, 2), make(chan sighting, 2)
	windows, heard := make(chan *speaker.Window, unheard), make(chan *speaker.MFCC, 1)

	g, ctx := newGroup(ctx)
	g.Go(func() (err error) {
		s.speech, err = readSpeech(ctx, w.pcm)
		return err
	})
	g.Go(func() error {
		defer close(heard)
		var mfcc *speaker.MFCC // of the source's own sound
		if w.network() != nil {
			mfcc = speaker.NewMFCC()
		}
		if s.sound = w.ownSound(ctx, mfcc); s.sound != nil {
			heard <- mfcc
		}
		return nil
	})
	g.Go(func() error {
		defer close(decoded)
		return w.decode(ctx, s, free, decoded)
	})
	g.Go(func() error {
		defer close(tracked)
		defer close(windows)
		return follow(ctx, tracker, s.cast, decoded, tracked, windows)
	})
	g.Go(func() error { return s.cast.Score(ctx, windows, <-heard) })
	g.Go(func() error {
		progress := w.progress("analyzing", w.expected())
		index := 0
		for t := range tracked {
			if err := session.Observe(index, t.frame, t.faces); err != nil {
				return fmt.Errorf("observe frame %d: %w", index, err)
			}
			free.give(t.frame)
			index++
			progress.done(index)
		}
		return nil
	})
	return s, g.Wait()
}

// sighting is a frame with the faces found in it.
type sighting struct {
	frame *image.YCbCr
	faces []face.Face
}

// follow tracks faces, and sends on what is to be observed and to be scored.
func follow(ctx context.Context, tracker Tracker, cast *speaker.Cast, decoded <-chan *image.YCbCr,
	tracked chan<- sighting, windows chan<- *speaker.Window) error {
	for frame := range decoded {
		faces, cut, err := tracker.Add(ctx, frame)
		if err != nil {
			return fmt.Errorf("find faces: %w", err)
		}
		if err := sendAll(ctx, windows, cast.Add(frame, faces, cut)); err != nil {
			return err
		}
		if err := send(ctx, tracked, sighting{frame, faces}); err != nil {
			return err
		}
	}
	return sendAll(ctx, windows, cast.End())
}

// network is what tells who speaks, nil if there is none or nothing to tell.
func (w *rendering) network() *speaker.Network {
	if w.job.LargestFace || w.video.Audio == nil {
		return nil
	}
	return w.Speaker
}

func (w *rendering) newTracker(ctx context.Context) (Tracker, error) {
	if w.NewTracker != nil {
		return w.NewTracker()
	}
	finder, err := face.NewFinder(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	return face.NewTracker(finder), nil
}

// decode sends the source's frames, and keeps their sums.
func (w *rendering) decode(ctx context.Context, s *seen, free buffers, decoded chan<- *image.YCbCr) error {
	frames, err := w.Tools.OpenFrames(ctx, w.video, w.frames)
	if err != nil {
		return err
	}
	defer frames.Close()
	for {
		frame, err := free.take(ctx)
		if err != nil {
			return err
		}
		err = frames.Read(frame)
		switch {
		case err == io.EOF && len(s.sums) > 0:
			return nil
		case err != nil && len(s.sums) == 0 && ctx.Err() == nil:
			return invalid("video is not a supported format", err)
		case err != nil:
			return fmt.Errorf("decode video: %w", err)
		}
		s.sums = append(s.sums, sum(frame))
		if err := send(ctx, decoded, frame); err != nil {
			return err
		}
	}
}

// expected estimates how many frames the first pass sees.
func (w *rendering) expected() int {
	if n := int(w.video.Duration.Seconds() * w.video.Video.Rate.Float()); n > 0 {
		return min(n, w.frames)
	}
	return w.frames
}

// ownSound analyses the source's own sound, as far as the output shows it, and its
// MFCC if they are wanted (not nil). A sound that can't be read only makes it
// harder to say who speaks.
func (w *rendering) ownSound(ctx context.Context, mfcc *speaker.MFCC) *speech.Speech {
	if w.job.LargestFace || w.video.Audio == nil {
		return nil
	}
	length := time.Duration(float64(w.frames) / w.video.Video.Rate.Float() * float64(time.Second))
	sound, err := w.Tools.OpenSound(ctx, w.video, length)
	if err != nil {
		return nil
	}
	var samples io.Reader = reader{ctx, sound}
	if mfcc != nil {
		samples = io.TeeReader(samples, mfcc)
	}
	heard, err := speech.Read(samples)
	if sound.Close() != nil || err != nil {
		return nil
	}
	return heard
}

// sum is a check of a frame's pixels.
func sum(frame *image.YCbCr) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	s := crc32.Update(0, table, frame.Y)
	return crc32.Update(crc32.Update(s, table, frame.Cb), table, frame.Cr)
}
