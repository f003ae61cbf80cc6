// Package worker does the requests that wait: it claims one, gets its media,
// renders it and reports. Any number of workers may run in any number of
// processes; what they agree by is the lease on each request.
package worker

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"lipsync/internal/lipsync"
	"lipsync/internal/render"
)

// Poll is how long a worker that found nothing waits before it looks again,
// unless it is woken.
const Poll = 5 * time.Second

// Renderer makes one video of two media files.
type Renderer interface {
	Render(context.Context, render.Job) error
}

// Fetcher gets what is behind a user's URL. NotFound and TooLarge are the URL's
// faults, NoHost may be, and Unavailable or TooSlow is another server's or the network's.
type Fetcher interface {
	Fetch(ctx context.Context, url string, w io.Writer, limit int64) error
}

// Worker does requests. Its fields are set once, before use.
type Worker struct {
	Service  *lipsync.Service
	Renderer Renderer
	Fetcher  Fetcher
	Scratch  string // an existing folder, for this worker's files alone
	Log      *slog.Logger
	// Rendered is told of each output how long it is and how long its rendering
	// took; may be nil.
	Rendered func(length, took time.Duration)
	// End is when this process will be killed for taking too long; zero if never.
	// An attempt that is not done by then has failed, and is not given back.
	End time.Time

	failing atomic.Pointer[shortage] // nil while nobody found that the disk fails
}

// Run does requests, n at once, until ctx ends. A receive from wake, which may
// be nil, makes an idle one look at once.
func (w *Worker) Run(ctx context.Context, n int, wake <-chan struct{}) {
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for w.awaitDisk(ctx) {
				if found, _ := w.Do(ctx, ""); found {
					continue
				}
				select {
				case <-ctx.Done():
				case <-wake:
				case <-time.After(Poll):
				}
			}
		})
	}
	all.Wait()
}

// Do does the request with the id, or for "" the next that waits. It reports
// whether there was one to do, and what kept it from being done or given back;
// that is logged already. A request that found the disk full or failing is put off, and
// then there is nothing to do here.
func (w *Worker) Do(ctx context.Context, id string) (found bool, err error) {
	r, err := w.Service.Claim(ctx, id)
	switch {
	case err == nil && ctx.Err() != nil: // told to stop just now
		report, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTime)
		defer cancel()
		return false, w.Service.Release(report, r)
	case lipsync.CodeOf(err) == lipsync.NotFound, ctx.Err() != nil:
		return false, nil
	case err != nil:
		w.Log.Error("claim", "error", err)
		return false, err
	}
	log := w.Log.With("account", r.Account, "request", r.ID, "attempt", r.Attempts)
	log.Info("started")
	started := time.Now()
	err = w.do(ctx, r, log)
	switch {
	case err == errDisk:
		return false, nil
	case err == errLost, lipsync.CodeOf(err) == lipsync.Conflict:
		log.Info("stopped: canceled, or lost to another worker")
		return true, nil
	case err != nil:
		log.Error("not finished", "after", time.Since(started), "error", err)
	}
	return true, err
}
