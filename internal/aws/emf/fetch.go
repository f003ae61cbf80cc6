package emf

import (
	"context"
	"io"
)

// Fetcher fetches the file at a client's URL, as worker.Fetcher does.
type Fetcher interface {
	Fetch(ctx context.Context, url string, w io.Writer, limit int64) error
}

// Fetcher returns a fetcher that counts the files that f fetched. The count shows that the network
// works.
func (m *Metrics) Fetcher(f Fetcher) Fetcher { return fetcher{f, m} }

type fetcher struct {
	Fetcher
	m *Metrics
}

var _ Fetcher = (*fetcher)(nil)

func (f fetcher) Fetch(ctx context.Context, url string, w io.Writer, limit int64) error {
	err := f.Fetcher.Fetch(ctx, url, w, limit)
	if err == nil {
		f.m.write(map[string]any{}, "", metric{"MediaFetched", count, 1})
	}
	return err
}
