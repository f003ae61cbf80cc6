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

	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"

	"lipsync/internal/aws/broker"
	"lipsync/internal/aws/cloud"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/service"
	"lipsync/internal/domain/settings"
	"lipsync/internal/http/fetch"
	"lipsync/internal/network/onnx"
	"lipsync/internal/render"
	"lipsync/internal/render/engines"
	"lipsync/internal/render/intake"
	"lipsync/internal/store/disk"
	"lipsync/internal/work/worker"
)

// lastWords is the time from the end of an attempt that takes too long to the time at which Batch
// ends the job.
const lastWords = time.Minute

// job has the settings of this process's job.
type job struct {
	scratch      string
	timeout      time.Duration
	limits       intake.Limits
	models       string // this machine's folder of models
	library      string // path of ONNX Runtime, "" for the usual places
	providers    string // execution providers of networks, separated by commas; "" for the usual ones
	nvidia       bool   // an NVIDIA GPU encodes
	allowPrivate bool
	records      *broker.Records
	own          lipsync.Objects // the models
	duty         lipsync.Duty    // small requests need no models
	secret       string          // name of the secret with the key that signs outputs, "" for none
	pieceTime    time.Duration   // see worker.Config; tests set it
}

// read reads the settings that only the runner has.
func (j *job) read(d *cloud.Deployment) {
	s := d.Settings
	d.Wanted.KeepFindings = settings.KeepFindings.In(s)
	d.Wanted.MaxDuration, d.Wanted.MaxSide = settings.MaxDuration.In(s), settings.MaxSide.In(s)
	d.Wanted.MaxFPS, d.Wanted.MaxGigapixels = settings.MaxFPS.In(s), settings.MaxGigapixels.In(s)
	cloud.Provenance(d)
	cloud.Sizes(d)
	d.Own.Duty = settings.Duty.In(s)
	*j = job{
		duty:         d.Own.Duty,
		scratch:      settings.Scratch.In(s),
		timeout:      settings.JobTimeout.In(s),
		limits:       worker.Limits(d.Wanted),
		models:       settings.Models.In(s),
		library:      settings.ONNXRuntime.In(s),
		providers:    settings.Providers.In(s),
		nvidia:       settings.NVIDIAEncode.In(s),
		allowPrivate: settings.AllowPrivateNetworks.In(s),
		secret:       settings.ProvenanceSecret.In(s),
	}
	d.Ports.RoomToWork = func(size int64) error { return disk.Room(j.scratch, 0, size) }
	j.behindBroker(d)
}

// do does waiting requests. It begins none in the second half of the job's time, nor after AWS has
// announced that it reclaims the machine. It releases a request that can't end before the machine
// does.
func (j *job) do(ctx context.Context, deployment *cloud.Deployment) (err error) {
	started := time.Now()
	var end time.Time
	if j.timeout > lastWords { // otherwise there is no time for any request
		end = started.Add(j.timeout - lastWords)
	}
	return j.withWorker(ctx, deployment, end, func(w *worker.Worker) error {
		ctx, begin, stop := untilReclaimed(ctx, imds.NewFromConfig(deployment.Config), deployment.Log)
		defer stop()
		begin, cancel := context.WithDeadline(begin, started.Add(j.timeout/2))
		defer cancel()
		return w.Stay(ctx, begin)
	})
}

// withWorker calls f with a worker that has a folder of its own, and the End.
func (j *job) withWorker(ctx context.Context, deployment *cloud.Deployment, end time.Time, f func(*worker.Worker) error) error {
	return j.with(ctx, deployment, end, func(c worker.Config) error {
		w, err := worker.New(c)
		if err != nil {
			return err
		}
		return f(w)
	})
}

// with calls f with the config of such a worker.
func (j *job) with(ctx context.Context, deployment *cloud.Deployment, end time.Time, f func(worker.Config) error) (err error) {
	folder, err := os.MkdirTemp(j.scratch, "runner-")
	if err != nil {
		return fmt.Errorf("make a folder in %s: %w", settings.Scratch.Env(), err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	opening, stop := context.WithCancel(ctx)
	renderer := &lazy{newOnce(opening, func(ctx context.Context) (*engines.Set, error) {
		return j.open(ctx, j.own, deployment.Log)
	})}
	defer func() {
		stop()
		if set := renderer.opened(); set != nil {
			err = errors.Join(err, set.Close())
		}
	}()
	signer, err := j.signer(ctx, deployment, folder)
	if err != nil {
		return err
	}
	client := fetch.New(fetch.Options{AllowPrivate: j.allowPrivate, Total: worker.FetchTime, Stall: worker.StallTime, Patience: worker.Patience})
	return f(worker.Config{
		Work:     service.NewWork(deployment.Service.Base, j.records),
		Renderer: renderer,
		Fetcher:  client,
		Sender:   client,
		Signer:   signer,
		Scratch:  folder,
		Log:      deployment.Log,
		Claimed:  func() { renderer.begin() }, // while media are fetched
		Rendered: deployment.Metrics.Rendered,
		Fetched:  deployment.Metrics.Fetched,
		End:      end,

		PieceTime: j.pieceTime,
	})
}

// lazy is a renderer that is opened once there is a request, so that a runner without work loads nothing.
type lazy struct{ *once[*engines.Set] }

var _ worker.Renderer = (*lazy)(nil)

func (l *lazy) Render(ctx context.Context, job render.Job, o render.Observer) (render.Result, error) {
	set, err := l.get(ctx)
	if err != nil {
		return render.Result{}, err
	}
	return set.Render(ctx, job, o)
}

func (l *lazy) Estimate(ctx context.Context, job render.Job) (order.Estimate, error) {
	set, err := l.get(ctx)
	if err != nil {
		return order.Estimate{}, err
	}
	return set.Estimate(ctx, job)
}

func (l *lazy) FindPeople(ctx context.Context, video string, o render.Observer) (order.Analysis, time.Duration, error) {
	set, err := l.get(ctx)
	if err != nil {
		return order.Analysis{}, 0, err
	}
	return set.FindPeople(ctx, video, o)
}

// open opens the renderer, on all cores that the process may use. If a kept model turns out to be
// wrong, open fetches it again.
func (j *job) open(ctx context.Context, objects lipsync.Objects, log *slog.Logger) (*engines.Set, error) {
	providers, err := readProviders(j.providers)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", settings.Providers.Env(), err)
	}
	var set *engines.Set
	for again := false; ; again = true {
		models := ""
		if j.duty != lipsync.DoesSmall {
			if models, err = fetchModels(ctx, objects, j.models, j.duty, log); err != nil {
				return nil, fmt.Errorf("fetch models: %w", err)
			}
		}
		set, err = engines.Open(ctx, engines.Options{
			Limits: j.limits, Cores: runtime.GOMAXPROCS(0), NVIDIA: j.nvidia,
			Models: models, Library: j.library, Providers: providers, Log: log,
		})
		if err != nil {
			return nil, err
		}
		if again || !set.Lacks || !rotten(models) {
			break
		}
		log.Warn("a kept model is wrong: it is fetched again")
		if err := set.Close(); err != nil {
			return nil, err
		}
	}
	log.Info("sandbox of ffmpeg", "layers", set.Tools.Sandbox)
	return set, nil
}

func readProviders(list string) (providers []onnx.Provider, err error) {
	for name := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' }) {
		var p onnx.Provider
		err = errors.Join(err, p.UnmarshalText([]byte(name)))
		providers = append(providers, p)
	}
	return providers, err
}
