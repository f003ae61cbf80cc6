package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"lipsync/internal/cloud"
	"lipsync/internal/fetch"
	"lipsync/internal/ffmpeg"
	"lipsync/internal/render"
	"lipsync/internal/warp"
	"lipsync/internal/worker"
)

// Times of fetching one input of a request.
const (
	fetchTime = 20 * time.Minute
	stallTime = 30 * time.Second // without a byte
)

// lastWords is the time that an attempt which takes too long has to end by
// itself, before Batch ends the job.
const lastWords = time.Minute

// job is what this process was started for.
type job struct {
	request      string
	scratch      string
	timeout      time.Duration
	limits       render.Limits
	allowPrivate bool
}

// read reads the settings that are the runner's alone.
func (j *job) read(h *cloud.Home) {
	s := h.Settings
	side := s.Number("LIPSYNC_MAX_SIDE")
	*j = job{
		request: s.Text("LIPSYNC_REQUEST"),
		scratch: s.Text("LIPSYNC_SCRATCH"),
		timeout: s.Duration("LIPSYNC_JOB_TIMEOUT"),
		limits: render.Limits{
			Duration: s.Duration("LIPSYNC_MAX_DURATION"),
			Width:    side, Height: side,
			FPS: s.Fraction("LIPSYNC_MAX_FPS"),
		},
		allowPrivate: s.Truth("LIPSYNC_ALLOW_PRIVATE_NETWORKS"),
	}
}

// do does the job's request and then those that wait. A job whose request is
// done or in other hands ends at once: whoever has it goes on with the rest.
func (j *job) do(ctx context.Context, home *cloud.Home) (err error) {
	started := time.Now()
	folder, err := os.MkdirTemp(j.scratch, "runner-")
	if err != nil {
		return fmt.Errorf("make a folder in LIPSYNC_SCRATCH: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	w, err := j.worker(home, folder)
	if err != nil {
		return err
	}
	if j.timeout > lastWords { // else there is no time for any
		w.End = started.Add(j.timeout - lastWords)
	}
	half := started.Add(j.timeout / 2)
	found, err := w.Do(ctx, j.request)
	for err == nil && found && ctx.Err() == nil && time.Now().Before(half) {
		found, err = w.Do(ctx, "")
	}
	return err
}

// worker returns a worker for one request at a time, on all cores that the
// process may use.
func (j *job) worker(home *cloud.Home, scratch string) (*worker.Worker, error) {
	cores := runtime.GOMAXPROCS(0)
	tools, err := ffmpeg.Find(cores)
	if err != nil {
		return nil, err
	}
	return &worker.Worker{
		Service:  home.Service,
		Renderer: &render.Renderer{Tools: tools, Engines: map[string]render.Engine{"warp": warp.Engine{Cores: cores}}, Limits: j.limits},
		Fetcher:  fetch.New(fetch.Options{AllowPrivate: j.allowPrivate, Total: fetchTime, Stall: stallTime}),
		Scratch:  scratch,
		Log:      home.Log,
		Rendered: home.Metrics.Rendered,
	}, nil
}
