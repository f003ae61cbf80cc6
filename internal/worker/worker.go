// Package worker does the requests that wait: it claims one, gets its media,
// renders it and reports. Any number of workers may run in any number of
// processes; what they agree by is the lease on each request.
package worker

import (
	"context"
	"io"
	"log/slog"
	"sync"
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

// Fetcher gets what is behind a user's URL: NotFound and TooLarge are the
// URL's faults.
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
}

// Run does requests, n at once, until ctx ends. A receive from wake, which may
// be nil, makes an idle one look at once.
func (w *Worker) Run(ctx context.Context, n int, wake <-chan struct{}) {
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for ctx.Err() == nil {
				if w.Do(ctx, "") {
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

// Do does the request with the id, or for "" the oldest that waits. It reports
// whether there was one to do.
func (w *Worker) Do(ctx context.Context, id string) bool {
	r, err := w.Service.Claim(ctx, id)
	switch {
	case lipsync.CodeOf(err) == lipsync.NotFound, ctx.Err() != nil:
		return false
	case err != nil:
		w.Log.Error("claim", "error", err)
		return false
	}
	log := w.Log.With("request", r.ID, "attempt", r.Attempts)
	log.Info("started")
	started := time.Now()
	if err := w.do(ctx, r, log); err != nil {
		log.Error("not finished", "after", time.Since(started), "error", err)
	}
	return true
}
