package simulate

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"sync"
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
func (w *World) work(ctx context.Context, p *process, d lipsync.Duty) {
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
	w.stay(ctx, begin, p, d)
}

// stay does requests with the duty in a process, and reports whether there was one. Those of a small worker have a process each, which claims them.
func (w *World) stay(ctx, begin context.Context, p *process, d lipsync.Duty) (did bool) {
	ports, config := w.service.Ports, w.service.Config
	ports.Store, ports.Demand = line{table: w.table, p: p, tokens: new(sync.Map)}.to(w.store)
	ports.Objects = w.objects
	config.Duty = d
	service, err := service.New(config, ports)
	if err != nil {
		panic(err) // can't happen: the World's own service has the same ports
	}
	r := &renderer{World: w, p: p, duty: d}
	log := slog.New(slog.DiscardHandler)
	one, err := worker.New(worker.Config{
		Work: service.Work, Renderer: r, Fetcher: fetcher{}, Sender: fetcher{}, Scratch: w.Scratch, Log: log, Claimed: r.load,
	})
	if err != nil {
		panic(err) // can't happen: nothing is missing
	}
	if d != lipsync.DoesSmall {
		_ = one.Stay(ctx, begin)
		return true
	}
	_ = worker.StayApart(ctx, begin, service.Work, log, func(ctx context.Context) (bool, error) {
		if err := sleep(ctx, w.Small.Process); err != nil {
			return false, err
		}
		found, err := one.Do(ctx, "")
		did = did || found
		return found, err
	})
	return did
}

// fetcher fetches media in half a second each, and sends none.
type fetcher struct{}

var _ worker.Fetcher = (*fetcher)(nil)

func (fetcher) Fetch(ctx context.Context, _ string, w io.Writer, _ int64) error {
	return sleep(ctx, 500*time.Millisecond)
}

func (fetcher) Send(context.Context, string, io.ReaderAt, int64, string) error {
	panic("no request has an upload_url")
}

// renderer takes the time of a render, and writes an output of one byte.
type renderer struct {
	*World
	p    *process
	duty lipsync.Duty

	mu     sync.Mutex
	loaded time.Time // when the engines are there
	busy   int       // requests that are rendered
}

// load begins to load the engines, unless the process has.
func (r *renderer) load() {
	took := map[lipsync.Duty]time.Duration{lipsync.DoesSmall: r.Small.Load, lipsync.DoesPlain: loadTime, lipsync.DoesNeural: r.Neural.Load}[r.duty]
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.loaded.IsZero() || r.duty == lipsync.DoesSmall {
		r.loaded = time.Now().Add(took)
	}
}

// begin returns the mean time of a render that begins now.
func (r *renderer) begin() (length time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy++
	switch r.duty {
	case lipsync.DoesSmall:
		return r.Small.Render
	case lipsync.DoesNeural:
		return r.Neural.Render[r.busy-1]
	default:
		return r.Plan.Render
	}
}

func (r *renderer) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy--
}

// loadTime is the time that a runner takes to load the engines.
const loadTime = 2 * time.Second

var _ worker.Renderer = (*renderer)(nil)

// Estimate fails: no simulated client asks for it.
func (*renderer) Estimate(context.Context, render.Job) (order.Estimate, error) {
	return order.Estimate{}, errors.ErrUnsupported
}

// FindPeople fails: no simulated client asks for it.
func (*renderer) FindPeople(context.Context, string, render.Observer) (order.Analysis, time.Duration, error) {
	return order.Analysis{}, 0, errors.ErrUnsupported
}

// Render reports progress every second.
func (r *renderer) Render(ctx context.Context, job render.Job, o render.Observer) (made render.Result, err error) {
	start, length := time.Now(), r.begin()
	defer r.end()
	if err := sleep(ctx, time.Until(r.loaded)); err != nil {
		return made, err
	}
	made.VideoLength, made.AudioLength = length, length
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
	if !r.p.killed() && r.duty == lipsync.DoesPlain {
		r.ledger.rendered(start, time.Now())
	}
	made.Length, made.Size = length, 1000
	return made, nil
}
