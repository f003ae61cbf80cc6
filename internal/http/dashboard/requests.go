package dashboard

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
	"lipsync/internal/http/shown"
)

const pageSize = 25

// filter selects the requests of a list, and the beginning of its page. The page begins after Offset
// requests. For a list of one state it begins at a Place, which ListFrom returned.
type filter struct {
	Status    lipsync.Status // a state; "" for all
	Reference string         // "" for all
	Words     string         // a part of the reference id or of the name of a file; "" for all
	Offset    int64
	Place     string // "" for the newest
}

func readFilter(q url.Values) filter {
	f := filter{Reference: q.Get("reference_id"), Place: q.Get("place"), Words: strings.TrimSpace(q.Get("q"))}
	if s := lipsync.Status(q.Get("status")); slices.Contains(lipsync.States(), s) {
		f.Status = s
	}
	if n, err := strconv.ParseInt(q.Get("offset"), 10, 64); err == nil && n > 0 {
		f.Offset = n
	}
	return f
}

// Any reports whether the filter leaves out any requests.
func (f filter) Any() bool { return f.Status != "" || f.Sought() != "" }

// Sought returns what the field for a search shows.
func (f filter) Sought() string { return cmp.Or(f.Words, f.Reference) }

// page returns the address of a page of the list. Its parameter, with the name and the
// value, says where that page begins; it is the newest page if the value is "".
func (f filter) page(name, value string) string {
	q := url.Values{}
	for key, value := range map[string]string{"status": string(f.Status), "reference_id": f.Reference, "q": f.Words, name: value} {
		if value != "" {
			q.Set(key, value)
		}
	}
	return "?" + q.Encode()
}

// listPage is a page of requests, newest first.
type listPage struct {
	Filter filter
	Chips  []chip
	Any    bool // the account has requests
	Rows   []row
	Total  int64 // number of requests on all pages, unknown for one state
	Depth  int   // number of the newest requests that were searched, 0 without a search, or if those are all
	Pager  pager
	Live   bool // a request on the page is not final
}

// row is one request of a list.
type row struct {
	lipsync.Request
	Poster *url.URL // poster of its output; nil if there is none
}

// chip is a link to the rows of one state, with their number.
type chip struct {
	Name, Path, Count string // Count is "" if it is not known
	Here              bool
}

// chips returns the links to the requests of each state.
func (p *pages) chips(ctx context.Context, c lipsync.Caller, f filter) ([]chip, error) {
	f.Offset, f.Place = 0, ""
	here := f.Status
	f.Status = ""
	all := []chip{{Name: "All", Path: f.page("", ""), Here: here == ""}}
	for _, f.Status = range lipsync.States() {
		_, n, err := p.service.Store.Requests.ListByStatus(ctx, lipsync.StatusQuery{
			Account: c.Account, Status: f.Status, ReferenceID: f.Reference, Count: shown.MostCounted + 1,
		})
		if err != nil {
			return nil, err
		}
		if n == 0 && here != f.Status {
			continue
		}
		one := chip{Name: string(f.Status), Path: f.page("", ""), Count: strconv.Itoa(n), Here: here == f.Status}
		if n > shown.MostCounted {
			one.Count = strconv.Itoa(shown.MostCounted) + "+"
		}
		if f.Words != "" {
			one.Count = ""
		}
		all = append(all, one)
	}
	return all, nil
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
	l := listPage{Filter: readFilter(v.URL.Query())}
	find := p.find
	switch {
	case l.Filter.Words != "":
		path, err := p.named(v, l.Filter)
		if err != nil {
			return err
		}
		if path != "" {
			return v.leadTo(path)
		}
		find = p.search
	case l.Filter.Status != "":
		find = p.findByStatus
	}
	requests, err := find(v.Context(), v.caller(), &l)
	if err == nil {
		l.Chips, err = p.chips(v.Context(), v.caller(), l.Filter)
	}
	if err != nil {
		return err
	}
	l.Any = len(l.Chips) > 1
	for _, r := range requests {
		l.Rows = append(l.Rows, row{r, p.poster(v.Context(), r)})
		l.Live = l.Live || !r.Status.Final()
	}
	return v.show(http.StatusOK, "requests", "Requests", l)
}

// named returns the path of the request with the id that a person typed, or of the list of those with the whole reference id; otherwise "".
func (p *pages) named(v *visit, f filter) (path string, err error) {
	if id, ok := lipsync.ParseID(f.Words); ok {
		r, err := p.service.Details(v.Context(), v.caller(), id)
		if err == nil {
			return p.root + "/requests/" + r.ID, nil
		}
		return "", failure.Unless(failure.NotFound, err)
	}
	_, n, err := p.service.Requests(v.Context(), v.caller(), service.ListQuery{ReferenceID: f.Words, Limit: 1})
	if err != nil || n == 0 {
		return "", err
	}
	return p.root + filter{Status: f.Status, Reference: f.Words}.page("", ""), nil
}

const (
	searchDepth = 300 // number of the newest requests that a search reads
	searchPage  = 100 // number that it reads at once
)

// search returns those of the newest requests whose reference id, or a file, has the words in its name.
func (p *pages) search(ctx context.Context, c lipsync.Caller, l *listPage) (found []lipsync.Request, err error) {
	words, at := strings.ToLower(l.Filter.Words), ""
	for range searchDepth / searchPage {
		page, next, err := p.service.Store.Requests.ListFrom(ctx, lipsync.PlaceQuery{Account: c.Account, Status: l.Filter.Status, Place: at, Limit: searchPage})
		if err != nil {
			return nil, err
		}
		for _, r := range page {
			if strings.Contains(strings.ToLower(r.ReferenceID+"\n"+shown.Files(r)), words) {
				found = append(found, r)
			}
		}
		if at = next; at == "" {
			return found, nil
		}
	}
	l.Depth = searchDepth
	return found, nil
}

// find returns the requests of a page of all states, and sets its Total and Pager.
func (p *pages) find(ctx context.Context, c lipsync.Caller, l *listPage) (requests []lipsync.Request, err error) {
	f := l.Filter
	requests, l.Total, err = p.service.Requests(ctx, c, service.ListQuery{ReferenceID: f.Reference, Offset: f.Offset, Limit: pageSize})
	if err != nil {
		return nil, err
	}
	l.Pager = newPager(f, len(requests), l.Total)
	return requests, nil
}

// findByStatus returns the requests of a page of one state, and sets its Pager. The page of a text that is no place is the newest.
func (p *pages) findByStatus(ctx context.Context, c lipsync.Caller, l *listPage) ([]lipsync.Request, error) {
	f := l.Filter
	requests, next, err := p.service.Store.Requests.ListFrom(ctx, lipsync.PlaceQuery{Account: c.Account, Status: f.Status, ReferenceID: f.Reference, Place: f.Place, Limit: pageSize})
	if f.Place != "" && failure.CodeOf(err) == failure.Invalid {
		l.Filter.Place = ""
		return p.findByStatus(ctx, c, l)
	}
	if f.Place != "" {
		l.Pager.Newer = f.page("", "")
	}
	if next != "" {
		l.Pager.Older = f.page("place", next)
	}
	return requests, err
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
