// Package render is the pipeline from a video and a speech track to a video
// whose lips follow the speech.
//
// There are two passes over the video. In the first, each source frame is decoded, its faces are detected, tracked and aligned
// with the canonical face, and the engine and the analyser of speakers analyse them. Then the engine makes a plan. In the
// second pass the frames are read once more, painted and encoded. Both passes stream, so memory doesn't grow with the
// video's length.
package render

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"path/filepath"
	"time"

	"lipsync/internal/ffmpeg"
	"lipsync/internal/lipsync"
	"lipsync/internal/speaker"
	"lipsync/internal/tracking"
)

// Renderer renders any number of jobs at once. Its fields are set once.
type Renderer struct {
	Tools   *ffmpeg.Tools
	Engines map[string]Engine // by the names that jobs call them
	Limits  Limits
	// NewTracker makes the tracker of one video of a frame rate.
	NewTracker func(fps float64) Tracker
	// Speaker helps to tell who of several people speaks; nil: none.
	Speaker *speaker.Network
}

// Tracker follows faces; see tracking.Tracker.
type Tracker interface {
	Add(ctx context.Context, frame *image.YCbCr) (faces []tracking.Face, cut bool, err error)
}

// Job is one video to make. All its files are local.
type Job struct {
	Video, Audio string // paths
	Output       string // path; there is nothing there until it is complete
	Scratch      string // an existing folder for temporary files
	Engine       string // the name of one of the renderer's
	// LargestFace syncs the largest face of each frame, no matter who speaks.
	LargestFace bool
	Progress    func(Progress) // may be nil; never called concurrently
	// Measured is told how long the media are, before any frame is decoded; may be nil. The
	// length of the video is what its file states, 0 if it doesn't.
	Measured func(video, audio time.Duration)
	// Rendered is told how long the output is, once it is there; may be nil.
	Rendered func(length time.Duration)
	// Poster is told, after Rendered, a small picture of the output, a JPEG, or why there is
	// none; may be nil, and then none is made.
	Poster func(jpeg []byte, err error)
}

// rendering is the work on one job.
type rendering struct {
	*Renderer
	job     Job
	engine  Engine
	video   *ffmpeg.Info
	dir     string // for temporary files
	aac     string // path of the speech track, ready for the output
	pcm     string // path of its samples
	samples int64  // of the speech track
	frames  int    // length of the output: the speech track's
}

// Render makes the job's output. An error of code Invalid means that the media
// are at fault.
func (r *Renderer) Render(ctx context.Context, j Job) error {
	engine := r.Engines[j.Engine]
	if engine == nil {
		return lipsync.Failure{Code: lipsync.ModelNotInstalled, Details: lipsync.Details{Model: j.Engine}}.Because(nil)
	}
	dir, err := os.MkdirTemp(j.Scratch, "render-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	w := &rendering{Renderer: r, job: j, engine: engine, dir: dir,
		aac: filepath.Join(dir, "speech.m4a"), pcm: filepath.Join(dir, "speech.pcm")}
	err = Guard(func() error { return w.render(ctx) })
	if ctx.Err() != nil {
		return context.Cause(ctx) // not an error that follows from it
	}
	if errors.Is(err, ffmpeg.ErrNotRun) {
		return lipsync.Failure{Code: lipsync.HostFailing}.Because(err)
	}
	return err
}

func (w *rendering) render(ctx context.Context) error {
	if err := w.inspect(ctx); err != nil {
		return err
	}
	v := w.video.Video
	w.frames = v.Rate.Frames(w.samples, ffmpeg.PCMRate)
	if w.job.Measured != nil {
		w.job.Measured(w.video.Duration, time.Duration(w.samples)*time.Second/ffmpeg.PCMRate)
	}
	engine, err := w.engine.Analyse(Video{Width: v.Width, Height: v.Height, FPS: v.Rate.Float()})
	if err != nil {
		return fmt.Errorf("start the engine: %w", err)
	}
	a, err := w.analyse(ctx, engine)
	if a != nil {
		defer a.source.close()
	}
	if err != nil {
		return err
	}
	if a.speaker.Faces() == 0 {
		return lipsync.Failure{Code: lipsync.NoFace}.Because(nil)
	}
	samples, err := os.Open(w.pcm)
	if err != nil {
		return err
	}
	defer samples.Close()
	line := timeline{source: a.source.frames, output: w.frames}
	out := Output{
		Frames: line.output, Source: line.at, Spoken: a.spoken, Heard: a.heard,
		Samples: io.NewSectionReader(samples, 0, 2*w.samples), Speaker: a.speaker.Largest(),
	}
	if !w.job.LargestFace {
		out.Speaker = a.speaker.Active(a.sound)
	}
	painter, err := engine.Plan(ctx, out)
	if err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	if err := w.paint(ctx, painter, &player{a.source, line}); err != nil {
		return err
	}
	length := time.Duration(float64(w.frames) / v.Rate.Float() * float64(time.Second))
	if w.job.Rendered != nil {
		w.job.Rendered(length)
	}
	if w.job.Poster != nil {
		w.job.Poster(w.Tools.Poster(ctx, w.job.Output, length/2))
	}
	return nil
}

// Progress tells how far a job is.
type Progress struct {
	Stage lipsync.Stage // lipsync.Analyzing or lipsync.Rendering
	Done  int           // frames
	Total int           // frames; may be an estimate
}

// progress passes a stage's progress on, a few times a second.
type progress struct {
	f     func(Progress)
	stage lipsync.Stage
	total int
	next  time.Time
}

func (w *rendering) progress(stage lipsync.Stage, total int) *progress {
	return &progress{f: w.job.Progress, stage: stage, total: total}
}

func (p *progress) done(frames int) {
	now := time.Now()
	if p.f == nil || frames < p.total && now.Before(p.next) {
		return
	}
	p.next = now.Add(200 * time.Millisecond)
	p.f(Progress{Stage: p.stage, Done: frames, Total: max(p.total, frames)})
}
