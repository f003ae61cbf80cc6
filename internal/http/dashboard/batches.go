package dashboard

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/google/uuid"

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
	Rows  []lipsync.LineView
	Pager linesPager
	Live  bool
	CSRF  string
}

// linesPager has the links from a page of lines to other pages.
type linesPager struct {
	Numbers        string // numbers of the first and the last line
	Previous, Next string // addresses, "" if there is no such page
}

// linesSize is the number of lines on a page of a batch.
const linesSize = 100

func (p *pages) showBatch(v *visit) error {
	b, err := p.service.Batch(v.Context(), v.caller(), v.PathValue("id"))
	if err != nil {
		return err
	}
	first, err := strconv.Atoi(v.URL.Query().Get("offset"))
	if err != nil || first < 0 || first >= len(b.Lines) {
		first = 0
	}
	page := batchPage{Batch: b, Live: open(b), CSRF: v.session.CSRF}
	for n := first; n < min(first+linesSize, len(b.Lines)); n++ {
		page.Rows = append(page.Rows, b.View(n))
	}
	page.Pager = newLinesPager(p.root+"/batches/"+url.PathEscape(b.ID), first, len(b.Lines))
	return v.show(http.StatusOK, "batch", "Batch", page)
}

// newLinesPager returns the pager of a page of lines that begins at first.
func newLinesPager(here string, first, total int) (p linesPager) {
	last := min(first+linesSize, total)
	p.Numbers = strconv.Itoa(first+1) + "–" + strconv.Itoa(last) + " of " + strconv.Itoa(total)
	if first > 0 {
		p.Previous = here + "?offset=" + strconv.Itoa(max(0, first-linesSize))
	}
	if last < total {
		p.Next = here + "?offset=" + strconv.Itoa(last)
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
