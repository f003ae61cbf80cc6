package dashboard

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"lipsync/internal/domain/batches"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// batchesPage is a page of the account's batches, newest first.
type batchesPage struct {
	Batches []lipsync.Batch
	Pager   pager
	Live    bool // a batch on the page is not final
}

func (p *pages) listBatches(v *visit) error {
	before := ""
	if id, err := uuid.Parse(v.URL.Query().Get("before")); err == nil {
		before = id.String()
	}
	list, err := p.service.Batches(v.Context(), v.caller(), before, pageSize+1)
	if err != nil {
		return err
	}
	page := batchesPage{Batches: list[:min(pageSize, len(list))]}
	here := p.root + "/batches"
	if before != "" {
		page.Pager.Newer = here
	}
	if len(list) > pageSize {
		page.Pager.Older = here + "?before=" + list[pageSize-1].ID
	}
	for _, b := range page.Batches {
		page.Live = page.Live || open(b)
	}
	return v.show(http.StatusOK, "batches", "Batches", page)
}

// open reports whether lines of the batch aren't final.
func open(b lipsync.Batch) bool {
	return b.Status() == lipsync.BatchProcessing || b.Status() == lipsync.BatchCanceling
}

// batchPage is one batch with a page of its lines.
type batchPage struct {
	lipsync.Batch
	Chips   []chip
	Rows    []lipsync.LineView
	Pager   linesPager
	Archive bool // its outputs can be downloaded as one
	Live    bool
	CSRF    string
}

// Canceled is what lines say that were canceled, which is no error.
func (b batchPage) Canceled() string { return failure.Failure{Code: failure.Canceled}.Sentence() }

// linesPager has the links from a page of lines to other pages.
type linesPager struct {
	Numbers        string // numbers of the first and the last line
	Previous, Next string // addresses, "" if there is no such page
}

// linesSize is the number of lines on a page of a batch.
const linesSize = 50

func (p *pages) showBatch(v *visit) error {
	b, err := p.service.Batch(v.Context(), v.caller(), v.PathValue("id"))
	if err != nil {
		return err
	}
	q := batches.LineQuery{Limit: linesSize}
	if state := v.URL.Query().Get("status"); slices.Contains(lipsync.LineStates(), state) {
		q.State = state
	}
	if n, err := strconv.Atoi(v.URL.Query().Get("offset")); err == nil && n > 0 && n < len(b.Lines) {
		q.Offset = n
	}
	lines, total, err := p.service.Lines(v.Context(), b, q)
	if err != nil {
		return err
	}
	here := p.root + "/batches/" + url.PathEscape(b.ID)
	page := batchPage{Batch: b, Rows: lines, Chips: lineChips(b, here, q.State), Pager: newLinesPager(here, q, total), Live: open(b), CSRF: v.session.CSRF}
	page.Archive = p.Storage == nil && b.Counts().Completed > 0
	return v.show(http.StatusOK, "batch", "Batch", page)
}

// lineChips returns the links to the lines of each state, on the page of a batch.
func lineChips(b lipsync.Batch, here, state string) []chip {
	counts := b.Counts().ByState()
	all := []chip{{Name: "All", Path: here, Count: strconv.Itoa(len(b.Lines)), Here: state == ""}}
	for _, name := range lipsync.LineStates() {
		if n := counts[name]; n > 0 || name == state {
			all = append(all, chip{name, here + "?status=" + name, strconv.Itoa(n), name == state})
		}
	}
	return all
}

// newLinesPager returns the pager of the page of lines that the query selects.
func newLinesPager(here string, q batches.LineQuery, total int) (p linesPager) {
	last := min(q.Offset+q.Limit, total)
	p.Numbers = strconv.Itoa(q.Offset+1) + "–" + strconv.Itoa(last) + " of " + strconv.Itoa(total)
	page := func(offset int) string {
		values := url.Values{"offset": {strconv.Itoa(offset)}}
		if q.State != "" {
			values.Set("status", q.State)
		}
		return here + "?" + values.Encode()
	}
	if q.Offset > 0 {
		p.Previous = page(max(0, q.Offset-q.Limit))
	}
	if last < total {
		p.Next = page(last)
	}
	return p
}

// cancelBatch cancels a batch, and leads back to it. A batch that is finished stays so.
func (p *pages) cancelBatch(v *visit) error {
	if err := p.service.Allow(v.Context(), v.caller(), lipsync.ReadCall); err != nil {
		return err
	}
	if _, err := p.service.CancelBatch(v.Context(), v.caller(), v.PathValue("id")); err != nil && failure.CodeOf(err) != failure.Finished {
		return err
	}
	return v.leadTo(p.root + "/batches/" + url.PathEscape(v.PathValue("id")))
}
