package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"time"

	"lipsync/internal/cloud"
	"lipsync/internal/engines"
	"lipsync/internal/fetch"
	"lipsync/internal/lipsync"
	"lipsync/internal/onnx"
	"lipsync/internal/render"
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
	providers    string // of networks, with commas between; "" for the usual ones
	nvidia       bool
	allowPrivate bool
}

// read reads the settings that only the runner has.
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
		providers:    s.Optional("LIPSYNC_PROVIDERS"),
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
	renderer, err := j.open(ctx, home.Service.Objects, home.Log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, renderer.Close()) }()
	home.Log.Info("sandbox of ffmpeg", "layers", renderer.Tools.Sandbox)
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
func (j *job) open(ctx context.Context, objects lipsync.Objects, log *slog.Logger) (*engines.Set, error) {
	providers, err := readProviders(j.providers)
	if err != nil {
		return nil, fmt.Errorf("LIPSYNC_PROVIDERS: %w", err)
	}
	models, err := fetchModels(ctx, objects, j.models, log)
	if err != nil {
		return nil, fmt.Errorf("fetch models: %w", err)
	}
	return engines.Open(ctx, engines.Options{
		Limits: j.limits, Cores: runtime.GOMAXPROCS(0), NVIDIA: j.nvidia,
		Models: models, Library: j.library, Providers: providers, Log: log,
	})
}

func readProviders(list string) (providers []onnx.Provider, err error) {
	for name := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' }) {
		var p onnx.Provider
		err = errors.Join(err, p.UnmarshalText([]byte(name)))
		providers = append(providers, p)
	}
	return providers, err
}

// worker returns a worker for one request at a time.
func (j *job) worker(home *cloud.Home, renderer worker.Renderer, scratch string) *worker.Worker {
	return &worker.Worker{
		Service:  home.Service,
		Renderer: renderer,
		Fetcher:  home.Metrics.Fetcher(fetch.New(fetch.Options{AllowPrivate: j.allowPrivate, Total: fetchTime, Stall: stallTime})),
		Scratch:  scratch,
		Log:      home.Log,
		Rendered: home.Metrics.Rendered,
	}
}
