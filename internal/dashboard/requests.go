package dashboard

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"lipsync/internal/lipsync"
)

const (
	pageSize = 25
	chunk    = 100  // requests read at a time where only some of them are wanted
	maxLook  = 1000 // requests looked at for one page
)

// filter says which requests a list is of.
type filter struct {
	Status    lipsync.Status // "" for all
	Reference string         // "" for all
	Offset    int64
}

func readFilter(q url.Values) filter {
	f := filter{Reference: q.Get("reference_id")}
	if s := lipsync.Status(q.Get("status")); slices.Contains(statuses(), s) {
		f.Status = s
	}
	if n, err := strconv.ParseInt(q.Get("offset"), 10, 64); err == nil && n > 0 {
		f.Offset = n
	}
	return f
}

// statuses returns those that can be asked for.
func statuses() []lipsync.Status {
	return []lipsync.Status{lipsync.Queued, lipsync.Processing, lipsync.Completed, lipsync.Failed}
}

// Any tells whether the filter leaves anything out.
func (f filter) Any() bool { return f.Status != "" || f.Reference != "" }

// at returns the address of the list from the offset on.
func (f filter) at(offset int64) string {
	q := url.Values{}
	if f.Status != "" {
		q.Set("status", string(f.Status))
	}
	if f.Reference != "" {
		q.Set("reference_id", f.Reference)
	}
	if offset > 0 {
		q.Set("offset", strconv.FormatInt(offset, 10))
	}
	address := url.URL{Path: Root, RawQuery: q.Encode()}
	return address.String()
}

// listPage is a page of requests, newest first.
type listPage struct {
	Filter       filter
	Statuses     []lipsync.Status
	Requests     []lipsync.Request
	Total        int64 // before the status is looked at
	Newer, Older string
	Next         int64 // requests looked at, to the end of this page
	Live         bool  // something may change by itself
}

func (p *pages) listRequests(v *visit) error {
	l := listPage{Filter: readFilter(v.URL.Query()), Statuses: statuses()}
	if err := p.find(v.Context(), v.caller(), &l); err != nil {
		return err
	}
	if l.Filter.Offset > 0 {
		l.Newer = l.Filter.at(max(0, l.Filter.Offset-pageSize))
		if l.Filter.Status != "" {
			l.Newer = l.Filter.at(0) // pages before this one may be of any length
		}
	}
	if l.Next < l.Total {
		l.Older = l.Filter.at(l.Next)
	}
	l.Live = slices.ContainsFunc(l.Requests, func(r lipsync.Request) bool { return !r.Status.Final() })
	return v.show(http.StatusOK, "requests", "Requests", l)
}

// From is the number of the page's first request, from 1.
func (l listPage) From() int64 { return min(l.Filter.Offset+1, l.Next) }

// find fills the page. For a status it looks through as many requests as it
// takes, up to maxLook.
func (p *pages) find(ctx context.Context, c lipsync.Caller, l *listPage) error {
	size := pageSize
	if l.Filter.Status != "" {
		size = chunk
	}
	l.Next = l.Filter.Offset
	for looked := 0; looked < maxLook && len(l.Requests) < pageSize; looked += size {
		found, err := p.service.RequestPage(ctx, c, l.Filter.Reference, l.Next, size)
		if err != nil {
			return err
		}
		l.Total = found.Total
		for _, r := range found.Requests {
			if len(l.Requests) == pageSize {
				return nil
			}
			l.Next++
			if l.Filter.Status == "" || l.Filter.Status == r.Status {
				l.Requests = append(l.Requests, r)
			}
		}
		if l.Next >= l.Total || l.Filter.Status == "" {
			return nil
		}
	}
	return nil
}

// waited is how long the request waited for a worker, to now if it still does.
func (p *pages) waited(r lipsync.Request) time.Duration {
	if r.StartedAt.IsZero() {
		return p.service.Now().Sub(r.CreatedAt)
	}
	return r.StartedAt.Sub(r.CreatedAt)
}

// until is how far away a time is.
func (p *pages) until(t time.Time) time.Duration { return max(0, t.Sub(p.service.Now())) }

// took is how long the work on it took, to now if it still goes on.
func (p *pages) took(r lipsync.Request) time.Duration {
	switch {
	case r.StartedAt.IsZero():
		return 0
	case r.FinishedAt.IsZero():
		return p.service.Now().Sub(r.StartedAt)
	default:
		return r.FinishedAt.Sub(r.StartedAt)
	}
}
