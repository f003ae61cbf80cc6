package main

import (
	"context"
	"image"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"lipsync/internal/face"
	"lipsync/internal/ffmpeg"
	"lipsync/internal/render"
	"lipsync/internal/speaker"
	"lipsync/internal/speech"
)

// held bounds the frames that are kept while stages are measured on them.
const held = 100

// stages are the times that the stages of a job take alone, for all its frames.
type stages struct {
	frames int
	took   map[string]time.Duration
}

func (s *stages) rate(took time.Duration) float64 { return float64(s.frames) / took.Seconds() }

func (s *stages) slowest() (most time.Duration) {
	for _, took := range s.took {
		most = max(most, took)
	}
	return most
}

// add adds the time that f takes to a stage.
func (s *stages) add(b *testing.B, name string, f func() error) {
	b.Helper()
	started := time.Now()
	if err := f(); err != nil {
		b.Fatal(err)
	}
	s.took[name] += time.Since(started)
}

// measureStages does a job's stages one after the other, each over some frames
// that are held, and then the next frames.
func measureStages(b *testing.B, r *render.Renderer, video, audio string) *stages {
	b.Helper()
	info, err := r.Tools.Probe(b.Context(), video)
	if err != nil {
		b.Fatal(err)
	}
	s := &stages{took: map[string]time.Duration{}}
	session, err := r.Engines["warp"].Begin(render.Video{Width: info.Video.Width, Height: info.Video.Height, FPS: info.Video.Rate.Float()})
	if err != nil {
		b.Fatal(err)
	}
	cast := speaker.New(info.Video.Rate.Float(), nil)
	s.firstPass(b, r, info, session, cast)

	aac := filepath.Join(b.TempDir(), "audio.m4a")
	var heard *speech.Speech
	s.add(b, "sound", func() error {
		heard, err = hear(b.Context(), r.Tools, audio, aac)
		return err
	})
	s.add(b, "plan", func() error {
		return session.Plan(b.Context(), render.Plan{
			Frames: s.frames, Source: func(i int) int { return i }, Speech: heard, Speaker: cast.Largest(),
		})
	})
	s.secondPass(b, r, info, session, aac)
	return s
}

// eachBatch decodes the video and calls f with up to held frames at a time.
func (s *stages) eachBatch(b *testing.B, r *render.Renderer, info *ffmpeg.Info, stage string, f func(first int, batch []*image.YCbCr)) (frames int) {
	b.Helper()
	decoder, err := r.Tools.OpenFrames(b.Context(), info, 1<<30)
	if err != nil {
		b.Fatal(err)
	}
	defer decoder.Close()
	buffers := make([]*image.YCbCr, held)
	for i := range buffers {
		buffers[i] = info.Video.NewFrame()
	}
	for {
		n := 0
		s.add(b, stage, func() error {
			for ; n < held; n++ {
				if err := decoder.Read(buffers[n]); err == io.EOF {
					return nil
				} else if err != nil {
					return err
				}
			}
			return nil
		})
		f(frames, buffers[:n])
		if frames += n; n < held {
			return frames
		}
	}
}

// firstPass measures decoding, tracking and observing.
func (s *stages) firstPass(b *testing.B, r *render.Renderer, info *ffmpeg.Info, session render.Session, cast *speaker.Cast) {
	b.Helper()
	finder, err := face.NewFinder(b.Context(), nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	tracker := face.NewTracker(finder)
	s.frames = s.eachBatch(b, r, info, "decode", func(first int, batch []*image.YCbCr) {
		faces := make([][]face.Face, len(batch))
		s.add(b, "track", func() error {
			for i, frame := range batch {
				found, cut, err := tracker.Add(b.Context(), frame)
				if err != nil {
					return err
				}
				faces[i] = found
				cast.Add(frame, found, cut)
			}
			return nil
		})
		s.add(b, "observe", func() error {
			for i, frame := range batch {
				if err := session.Observe(first+i, frame, faces[i]); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// hear prepares the sound of a job.
func hear(ctx context.Context, tools *ffmpeg.Tools, audio, aac string) (*speech.Speech, error) {
	info, err := tools.Probe(ctx, audio)
	if err != nil {
		return nil, err
	}
	pcm, err := os.Create(aac + ".pcm")
	if err != nil {
		return nil, err
	}
	defer pcm.Close()
	if _, err := tools.Transcode(ctx, info, aac, pcm, time.Hour); err != nil {
		return nil, err
	}
	if _, err := pcm.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return speech.Read(pcm)
}

// secondPass measures making the mouths and encoding.
func (s *stages) secondPass(b *testing.B, r *render.Renderer, info *ffmpeg.Info, session render.Session, aac string) {
	b.Helper()
	encoder, err := r.Tools.Encode(b.Context(), info.Video, aac, filepath.Join(b.TempDir(), "out.mp4"))
	if err != nil {
		b.Fatal(err)
	}
	s.eachBatch(b, r, info, "decode-again", func(first int, batch []*image.YCbCr) {
		s.add(b, "mouths", func() error {
			var all errgroup.Group
			all.SetLimit(r.Engines["warp"].Workers())
			for i, frame := range batch {
				all.Go(func() error {
					_, err := session.Mouths(b.Context(), first+i, frame)
					return err
				})
			}
			return all.Wait()
		})
		s.add(b, "encode", func() error {
			for _, frame := range batch {
				if err := encoder.Write(frame); err != nil {
					return err
				}
			}
			return nil
		})
	})
	s.add(b, "encode", encoder.Finish)
}
