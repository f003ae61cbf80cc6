package monitor

import (
	"cmp"
	"context"
	"io"
	"time"

	"lipsync/internal/domain/failure"
)

// Fetcher fetches the file at a client's URL, as worker.Fetcher does.
type Fetcher interface {
	Fetch(ctx context.Context, url string, w io.Writer, limit int64) error
}

// Fetcher returns a fetcher that measures the fetches of f.
func (m *Monitor) Fetcher(f Fetcher) Fetcher { return fetcher{f, m} }

// fetched is the result of a successful fetch.
const fetched = "ok"

type fetcher struct {
	Fetcher
	m *Monitor
}

// Fetch implements Fetcher. The result is a code of failure.Error, ok, or canceled.
func (f fetcher) Fetch(ctx context.Context, url string, w io.Writer, limit int64) error {
	started := time.Now()
	err := f.Fetcher.Fetch(ctx, url, w, limit)
	result := cmp.Or(failure.CodeOf(err), fetched)
	if err != nil && ctx.Err() != nil {
		result = "canceled" // or released, or out of time
	}
	f.m.fetches.WithLabelValues(string(result)).Observe(time.Since(started).Seconds())
	return err
}
