package simulate

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/service"
	"lipsync/internal/render"
	"lipsync/internal/work/worker"
)

// noticeEvery and noticeMargin are as in cmd/runner: the time between two checks for a notice, and
// the time from the release of its request to the end of its machine.
const (
	noticeEvery  = 5 * time.Second
	noticeMargin = 15 * time.Second
)

// jobTime is the time for which a runner begins new requests: half of Batch's time-out of six
// hours.
const jobTime = 3 * time.Hour

// work does the work of one job of Batch, as cmd/runner does, with a renderer that only waits.
func (w *World) work(ctx context.Context, p *process) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	begin, cancel := context.WithTimeout(ctx, jobTime)
	defer cancel()
	defer context.AfterFunc(p.begin, func() { // on a notice, or at the end
		time.Sleep(w.dice.between(0, noticeEvery))
		cancel()
		if sleep(ctx, w.Fleet.Notice-noticeMargin-noticeEvery) == nil {
			stop()
		}
	})()
	w.stay(ctx, begin, p, false)
}

// stay does requests, or only small ones, in a process.
func (w *World) stay(ctx, begin context.Context, p *process, small bool) {
	ports, config := w.service.Ports, w.service.Config
	ports.Store, ports.Demand = line{table: w.table, p: p, token: new(string)}.to(w.store)
	ports.Objects = w.objects
	if small {
		config.Duty = lipsync.DoesSmall
	}
	service, err := service.New(config, ports)
	if err != nil {
		panic(err) // can't happen: the World's own service has the same ports
	}
	r := &renderer{World: w, p: p, small: small}
	_ = (&worker.Worker{
		Work: service.Work, Renderer: r, Fetcher: fetcher{}, Scratch: w.Scratch, Log: slog.New(slog.DiscardHandler),
	}).Stay(ctx, begin)
}

// fetcher fetches media in half a second each.
type fetcher struct{}

var _ worker.Fetcher = (*fetcher)(nil)

func (fetcher) Fetch(ctx context.Context, _ string, w io.Writer, _ int64) error {
	return sleep(ctx, 500*time.Millisecond)
}

// renderer takes the time of a render, and writes an output of one byte.
type renderer struct {
	*World
	p      *process
	small  bool // a small worker, in which each request has a process of its own
	loaded bool
}

// loadTime is the time that a runner takes to load the engines.
const loadTime = 2 * time.Second

var _ worker.Renderer = (*renderer)(nil)

// Estimate fails: no simulated client asks for it.
func (*renderer) Estimate(context.Context, render.Job) (order.Estimate, error) {
	return order.Estimate{}, errors.ErrUnsupported
}

// FindPeople fails: no simulated client asks for it.
func (*renderer) FindPeople(context.Context, string, render.Observer) (order.Analysis, error) {
	return order.Analysis{}, errors.ErrUnsupported
}

// Render reports progress every second.
func (r *renderer) Render(ctx context.Context, job render.Job, o render.Observer) (made render.Result, err error) {
	start := time.Now()
	load, length := loadTime, r.Plan.Render
	if r.small {
		load, length = r.Small.Load, r.Small.Render
	}
	if !r.loaded {
		if err := sleep(ctx, load); err != nil {
			return made, err
		}
		r.loaded = !r.small
	}
	o.Measured(length, length, 0)
	took := r.dice.between(length*7/10, length*13/10)
	seconds := int(took / time.Second)
	if err := sleep(ctx, took%time.Second); err != nil {
		return made, err
	}
	for n := range seconds {
		if err := sleep(ctx, time.Second); err != nil {
			return made, err
		}
		stage, done, total := order.Analyzing, n+1, max(1, seconds/4)
		if done > total {
			stage, done, total = order.Rendering, done-total, seconds-total
		}
		o.Progress(render.Progress{Stage: stage, Done: done, Total: total})
	}
	if err := os.WriteFile(job.Output, []byte("o"), 0o600); err != nil {
		return made, err
	}
	if !r.p.killed() && !r.small {
		r.ledger.rendered(start, time.Now())
	}
	return render.Result{Length: length, Size: 1000}, nil
}
