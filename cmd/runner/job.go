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
	"lipsync/internal/lipsync"
	"lipsync/internal/render"
	"lipsync/internal/studio"
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
	models       string // folder of this machine's models
	library      string // of ONNX Runtime, "" for the usual places
	nvidia       bool
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
		models:       s.Text("LIPSYNC_MODELS"),
		library:      s.Optional("LIPSYNC_ONNXRUNTIME"),
		nvidia:       s.Truth("LIPSYNC_NVIDIA"),
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
	renderer, err := j.open(ctx, home.Service.Objects)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, renderer.Close()) }()
	w := j.worker(home, renderer, folder)
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

// open makes ready what renders, on all cores that the process may use.
func (j *job) open(ctx context.Context, objects lipsync.Objects) (*studio.Studio, error) {
	cores := runtime.GOMAXPROCS(0)
	tools, err := ffmpeg.Find(cores)
	if err != nil {
		return nil, err
	}
	if tools.NVIDIA = j.nvidia; j.nvidia {
		if err := tools.CheckNVIDIA(ctx); err != nil {
			return nil, err
		}
	}
	models, err := fetchModels(ctx, objects, j.models)
	if err != nil {
		return nil, fmt.Errorf("fetch models: %w", err)
	}
	return studio.Open(studio.Options{Tools: tools, Limits: j.limits, Cores: cores, Models: models, Library: j.library})
}

// worker returns a worker for one request at a time.
func (j *job) worker(home *cloud.Home, renderer worker.Renderer, scratch string) *worker.Worker {
	return &worker.Worker{
		Service:  home.Service,
		Renderer: renderer,
		Fetcher:  fetch.New(fetch.Options{AllowPrivate: j.allowPrivate, Total: fetchTime, Stall: stallTime}),
		Scratch:  scratch,
		Log:      home.Log,
		Rendered: home.Metrics.Rendered,
	}
}
