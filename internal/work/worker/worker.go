// Package worker does waiting requests: it claims one, fetches its media, renders it and reports
// the result. Any number of workers may run in any number of processes. The lease on each request
// keeps two workers from doing the same one.
package worker

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/service"
	"lipsync/internal/render"
)

// Poll is the time that a worker which found no request waits before it tries again, unless it is
// woken.
const Poll = 5 * time.Second

// Renderer makes one video from two media files, inspects them before, or analyses one video.
type Renderer interface {
	Render(context.Context, render.Job, render.Observer) (render.Result, error)
	Estimate(context.Context, render.Job) (order.Estimate, error)
	FindPeople(ctx context.Context, video string, o render.Observer) (a order.Analysis, stated time.Duration, err error)
}

// Fetcher fetches the file at a client's URL. The errors NotFound and TooLarge are the fault of the
// URL, NoHost may be, and Unavailable and TooSlow are the fault of another server or the network.
type Fetcher interface {
	Fetch(ctx context.Context, url string, w io.Writer, limit int64) error
}

// Sender sends a file to a client's URL, by PUT. Its errors have the codes of a Fetcher's errors. The
// answer of a server that refuses the file is in the error's chain, and has the method HTTPStatusCode.
type Sender interface {
	Send(ctx context.Context, url string, file io.ReaderAt, size int64, mediaType string) error
}

// Config is what a worker works with. New gives what says so a default.
type Config struct {
	Work     *service.Work
	Renderer Renderer
	Fetcher  Fetcher
	Sender   Sender
	Signer   Signer // by default outputs aren't signed; needed if all must be
	Scratch  string // an existing folder for the files of this worker only
	Log      *slog.Logger
	// PieceTime is the time after which a piece of an output ends; see render.Job.
	PieceTime time.Duration
	// Claimed is called for each request before its media are fetched; by default nobody is told.
	Claimed func()
	// Rendered is called for each output with its length and the time that its rendering took; by default nobody is told.
	Rendered func(length, took time.Duration)
	// Fetched is called after each fetch, with its context, the time that it took, and its error; also for several at a time. By default nobody is told.
	Fetched func(ctx context.Context, took time.Duration, err error)
	// End is the time at which this process will be killed because it ran for too long; zero if it
	// never will be. An attempt that is not done by then fails, and is not released.
	End time.Time
	// Stores means that outputs are stored on the disk of Scratch.
	Stores bool
}

// Worker does requests.
type Worker struct {
	c          Config
	slots      atomic.Pointer[slots]    // nil until Run begins
	failing    atomic.Pointer[shortage] // nil until a worker finds that the disk fails
	promised   promised
	estimating atomic.Int64 // bytes that the media of the estimates of Estimate may have
}

// New returns a worker. The error names all that is missing.
func New(c Config) (*Worker, error) {
	var missing []string
	for name, lacks := range map[string]bool{
		"Work": c.Work == nil, "Renderer": c.Renderer == nil, "Fetcher": c.Fetcher == nil, "Sender": c.Sender == nil, "Scratch": c.Scratch == "", "Log": c.Log == nil,
		"Signer": c.Signer == nil && c.Work != nil && c.Work.RequireProvenance,
	} {
		if lacks {
			missing = append(missing, name)
		}
	}
	if missing != nil {
		slices.Sort(missing)
		return nil, fmt.Errorf("a worker lacks: %s", strings.Join(missing, ", "))
	}
	if c.Claimed == nil {
		c.Claimed = func() {}
	}
	if c.Rendered == nil {
		c.Rendered = func(_, _ time.Duration) {}
	}
	if c.Fetched == nil {
		c.Fetched = func(context.Context, time.Duration, error) {}
	}
	return &Worker{c: c}, nil
}

// Run does requests until ctx ends. It works on n at once, while others wait for servers of their clients. A receive from wake, which may be
// nil, makes it claim at once if it is idle.
func (w *Worker) Run(ctx context.Context, n int, wake <-chan struct{}) {
	slots := newSlots(n)
	w.slots.Store(slots)
	var all sync.WaitGroup
	defer all.Wait()
	for w.awaitDisk(ctx) {
		p, err := slots.take(ctx)
		if err != nil {
			return
		}
		if w.failing.Load() != nil {
			p.close()
			continue
		}
		r, found, _ := w.claim(ctx, "", slots.full()...)
		if found {
			p.give(r.Account)
			all.Go(func() {
				defer p.close()
				_, _ = w.finish(ctx, r, p)
			})
			continue
		}
		p.close()
		select {
		case <-ctx.Done():
		case <-wake:
		case <-time.After(Poll):
		}
	}
}

// Working is base.Ports.Working: it returns since when Run has worked on each request, without the waits for servers, and the number of those that
// wait to be worked on again.
func (w *Worker) Working([]time.Time) (since []time.Time, ready int) {
	if p := w.slots.Load(); p != nil {
		return p.working()
	}
	return nil, 0
}

// Estimate does an estimate at once if it waits. An estimate takes little time, so it needn't wait for a worker
// that is busy. Errors are logged. If there is an error, or if the disk may be too small for the media of all estimates that
// are done so, another worker does the estimate later.
func (w *Worker) Estimate(ctx context.Context, r lipsync.Request) {
	most := w.c.Work.MaxMedia(r)
	all := w.estimating.Add(most)
	defer w.estimating.Add(-most)
	if w.failing.Load() == nil && w.c.Work.Room(all+w.promised.all()) == nil {
		_, _ = w.Do(ctx, r.ID)
	}
}

// Do does the request with the id, or with "" the next one that waits. It reports whether there
// was one to do. The error, which is already logged, kept the request from being done or released, or is ErrEnlarged.
// If the disk is full or fails, Do postpones the request, and reports that there was none.
func (w *Worker) Do(ctx context.Context, id string) (found bool, err error) {
	r, found, err := w.claim(ctx, id)
	if found {
		found, err = w.finish(ctx, r, nil)
	}
	return found, err
}

// claim claims a request; see service.Records.
func (w *Worker) claim(ctx context.Context, id string, except ...string) (r lipsync.Request, found bool, err error) {
	r, err = w.c.Work.Claim(ctx, id, except...)
	switch {
	case err == nil && ctx.Err() != nil: // it was just told to stop
		report, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTime)
		defer cancel()
		return r, false, w.c.Work.Release(report, r)
	case failure.CodeOf(err) == failure.NotFound, ctx.Err() != nil:
		return r, false, nil
	case err != nil:
		w.c.Log.Error("claim", "error", err)
	}
	return r, err == nil, err
}

// finish makes an attempt at a claimed request in a slot; see Do.
func (w *Worker) finish(ctx context.Context, r lipsync.Request, p *slot) (found bool, err error) {
	log := w.c.Log.With("account", r.Account, "request", r.ID, "call", r.CallID, "analysis", r.IsAnalysis(), "estimate", r.IsEstimate(), "attempt", r.Attempts)
	log.Info("started")
	started := time.Now()
	err = w.do(lipsync.WithHeld(ctx, r), r, p, log)
	switch {
	case err == errDisk:
		return false, nil
	case failure.CodeOf(err) == failure.Conflict:
		log.Info("stopped: canceled, or lost to another worker")
		return true, nil
	case err == ErrEnlarged:
	case err != nil:
		log.Error("not finished", "after", time.Since(started), "error", err)
	}
	return true, err
}
