package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
)

const pageSize = 25

// filter selects the requests of a list, and the beginning of its page. The page begins after Offset
// requests. For a list of one status it begins after the request with the id Before.
type filter struct {
	Status    lipsync.Status // "" for all
	Reference string         // "" for all
	Offset    int64
	Before    string // "" for the newest
}

func readFilter(q url.Values) filter {
	f := filter{Reference: q.Get("reference_id")}
	if s := lipsync.Status(q.Get("status")); slices.Contains(lipsync.States(), s) {
		f.Status = s
	}
	if n, err := strconv.ParseInt(q.Get("offset"), 10, 64); err == nil && n > 0 {
		f.Offset = n
	}
	if id, err := uuid.Parse(q.Get("before")); err == nil {
		f.Before = id.String()
	}
	return f
}

// Any reports whether the filter leaves out any requests.
func (f filter) Any() bool { return f.Status != "" || f.Reference != "" }

// page returns the address of another page of the same list. Its parameter, with the name and the
// value, says where that page begins; it is the newest page if the value is "".
func (f filter) page(name, value string) string {
	q := url.Values{}
	if f.Status != "" {
		q.Set("status", string(f.Status))
	}
	if f.Reference != "" {
		q.Set("reference_id", f.Reference)
	}
	if value != "" {
		q.Set(name, value)
	}
	return "?" + q.Encode()
}

// listPage is a page of requests, newest first.
type listPage struct {
	Filter   filter
	Statuses []lipsync.Status
	Rows     []row
	Total    int64 // number of requests on all pages, unknown for one status
	Pager    pager
	Live     bool // a request on the page is not final
}

// row is one request of a list.
type row struct {
	lipsync.Request
	Poster *url.URL // poster of its output; nil if there is none
}

// pager has the links from a page of a list to other pages.
type pager struct {
	Numbers      string // numbers of the first and the last row, "" if they are unknown
	Newer, Older string // addresses, "" if there is no such page
}

// newPager returns the pager of a page with a number of rows. A page without rows links to the newest
// page.
func newPager(f filter, rows int, total int64) (p pager) {
	end := f.Offset + int64(rows)
	if rows > 0 {
		p.Numbers = fmt.Sprintf("%d–%d of %d", f.Offset+1, end, total)
	}
	switch {
	case f.Offset > pageSize && rows > 0:
		p.Newer = f.page("offset", strconv.FormatInt(f.Offset-pageSize, 10))
	case f.Offset > 0:
		p.Newer = f.page("", "")
	}
	if end < total {
		p.Older = f.page("offset", strconv.FormatInt(f.Offset+pageSize, 10))
	}
	return p
}

func (p *pages) listRequests(v *visit) error {
	l := listPage{Filter: readFilter(v.URL.Query()), Statuses: lipsync.States()}
	find := p.find
	if l.Filter.Status != "" {
		find = p.findByStatus
	}
	requests, err := find(v.Context(), v.caller(), &l)
	if err != nil {
		return err
	}
	for _, r := range requests {
		l.Rows = append(l.Rows, row{r, p.poster(v.Context(), r)})
		l.Live = l.Live || !r.Status.Final()
	}
	return v.show(http.StatusOK, "requests", "Requests", l)
}

// find returns the requests of a page of all statuses, and sets its Total and Pager.
func (p *pages) find(ctx context.Context, c lipsync.Caller, l *listPage) (requests []lipsync.Request, err error) {
	f := l.Filter
	requests, l.Total, err = p.service.Requests(ctx, c, service.ListQuery{ReferenceID: f.Reference, Offset: f.Offset, Limit: pageSize})
	if err != nil {
		return nil, err
	}
	l.Pager = newPager(f, len(requests), l.Total)
	return requests, nil
}

// findByStatus returns the requests of a page of one status, and sets its Pager. It
// checks whether there is another page.
func (p *pages) findByStatus(ctx context.Context, c lipsync.Caller, l *listPage) ([]lipsync.Request, error) {
	f := l.Filter
	requests, err := p.service.RequestsBefore(ctx, c, f.Before, service.ListQuery{Status: f.Status, ReferenceID: f.Reference, Limit: pageSize + 1})
	if err != nil {
		return nil, err
	}
	if f.Before != "" {
		l.Pager.Newer = f.page("", "")
	}
	if len(requests) > pageSize {
		requests = requests[:pageSize]
		l.Pager.Older = f.page("before", requests[pageSize-1].ID)
	}
	return requests, nil
}

// poster returns the address of the poster of the request's output, nil if there is none. After an
// error, which it logs, it returns nil too, since a page is useful without posters.
func (p *pages) poster(ctx context.Context, r lipsync.Request) *url.URL {
	poster, err := p.service.PosterURL(ctx, r)
	if err != nil {
		p.Log.ErrorContext(ctx, "no poster is shown", "request", r.ID, "error", err)
	}
	return poster
}

// waited returns how long the request waited for a worker, or has waited until now.
func (p *pages) waited(r lipsync.Request) time.Duration {
	if r.StartedAt.IsZero() {
		return p.service.Now().Sub(r.CreatedAt)
	}
	return r.StartedAt.Sub(r.CreatedAt)
}

// until returns the time from now to t, or 0.
func (p *pages) until(t time.Time) time.Duration { return max(0, t.Sub(p.service.Now())) }

// took returns how long the work on the request took, or has taken until now.
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
