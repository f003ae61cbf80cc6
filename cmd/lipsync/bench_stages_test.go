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

	"lipsync/internal/alignment"
	"lipsync/internal/detection"
	"lipsync/internal/ffmpeg"
	"lipsync/internal/render"
	"lipsync/internal/speaker"
	"lipsync/internal/speech"
	"lipsync/internal/tracking"
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
	engine, err := r.Engines["warp"].Analyse(render.Video{Width: info.Video.Width, Height: info.Video.Height, FPS: info.Video.Rate.Float()})
	if err != nil {
		b.Fatal(err)
	}
	speakers := speaker.New(info.Video.Rate.Float(), nil)
	s.firstPass(b, r, info, engine, speakers)

	aac := filepath.Join(b.TempDir(), "audio.m4a")
	var heard *speech.Speech
	s.add(b, "sound", func() error {
		heard, err = hear(b.Context(), r.Tools, audio, aac)
		return err
	})
	var painter render.Painter
	s.add(b, "plan", func() error {
		painter, err = engine.Plan(b.Context(), render.Output{
			Frames: s.frames, Source: func(i int) int { return i }, Speech: heard, Speaker: speakers.Largest(),
		})
		return err
	})
	s.secondPass(b, r, info, painter, aac)
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

// firstPass measures decoding, tracking, alignment and analysis.
func (s *stages) firstPass(b *testing.B, r *render.Renderer, info *ffmpeg.Info, engine render.Analyser, speakers *speaker.Analyser) {
	b.Helper()
	detector, err := detection.New(b.Context(), nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	tracker, aligner := tracking.NewTracker(detector, info.Video.Rate.Float()), alignment.NewAligner()
	analyse := func(frames []alignment.Frame) {
		s.add(b, "analyse", func() error {
			for _, f := range frames {
				speakers.Add(f)
				if err := engine.Add(f); err != nil {
					return err
				}
			}
			return nil
		})
	}
	s.frames = s.eachBatch(b, r, info, "decode", func(first int, batch []*image.YCbCr) {
		faces, cuts := make([][]tracking.Face, len(batch)), make([]bool, len(batch))
		s.add(b, "track", func() (err error) {
			for i, frame := range batch {
				if faces[i], cuts[i], err = tracker.Add(b.Context(), frame); err != nil {
					return err
				}
			}
			return nil
		})
		var aligned []alignment.Frame
		s.add(b, "align", func() error {
			for i := range batch {
				aligned = append(aligned, aligner.Add(faces[i], cuts[i])...)
			}
			return nil
		})
		analyse(aligned)
	})
	var last []alignment.Frame
	s.add(b, "align", func() error {
		last = aligner.End()
		return nil
	})
	analyse(last)
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
func (s *stages) secondPass(b *testing.B, r *render.Renderer, info *ffmpeg.Info, painter render.Painter, aac string) {
	b.Helper()
	encoder, err := r.Tools.Encode(b.Context(), info.Video, aac, filepath.Join(b.TempDir(), "out.mp4"))
	if err != nil {
		b.Fatal(err)
	}
	s.eachBatch(b, r, info, "decode-again", func(first int, batch []*image.YCbCr) {
		s.add(b, "paint", func() error {
			var all errgroup.Group
			all.SetLimit(r.Engines["warp"].Workers())
			for i, frame := range batch {
				all.Go(func() error {
					_, err := painter.Paint(b.Context(), first+i, frame)
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
