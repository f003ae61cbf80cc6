package service_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
	"lipsync/internal/test/check"
	"lipsync/internal/test/lipsynctest"
)

// wantErased checks that the request is gone for its client and for the store.
func (f *fixture) wantErased(t *testing.T, id string) {
	t.Helper()
	_, _, err := f.Request(t.Context(), f.caller, id)
	check.Error(t, "read", err, failure.NotFound, "lipsync request not found")
	_, err = f.Store.Requests.ByID(t.Context(), id)
	check.Want(t, "record", failure.CodeOf(err), failure.NotFound)
}

// canceled makes a request and cancels it.
func (f *fixture) canceled(t *testing.T) (id string) {
	t.Helper()
	id = f.generate(t, "")
	_, err := f.Cancel(t.Context(), f.caller, id)
	check.Must(t, err)
	return id
}

// TestErase erases a request with media by its reference id, and an analysis. An open request and those of others stay.
func TestErase(t *testing.T) {
	f := newFixture(t)
	f.GenerateRate = 100
	n := f.media(t, "v", "a")
	n.ReferenceID = new("mine")
	n.IdempotencyKey = new("k")
	id, err := f.Generate(t.Context(), f.caller, n)
	check.Must(t, err)
	check.Error(t, "open", f.Erase(t.Context(), f.caller, id), failure.Unfinished, unfinished)
	_, stranger := f.newCaller(t, "b", 0)
	check.Want(t, "another account", failure.CodeOf(f.Erase(t.Context(), stranger, id)), failure.NotFound)
	f.complete(t, id)
	check.Must(t, f.Erase(t.Context(), f.caller, "mine"))
	f.wantErased(t, id)
	check.Want(t, "again", failure.CodeOf(f.Erase(t.Context(), f.caller, id)), failure.NotFound)
	f.wantEmpty(t)
	stored, _, err := f.Stored(t.Context(), f.caller, f.clock.Now())
	check.Must(t, err)
	check.Want(t, "stored bytes", stored, 0)
	days, err := f.Usage(t.Context(), f.caller, f.clock.Now(), 1)
	check.Must(t, err)
	check.Want(t, "requests of the day", days[0].Requests, 1)
	again, err := f.Generate(t.Context(), f.caller, n)
	check.Must(t, err)
	check.Want(t, "repeated call", again, id)

	u := f.upload(t, failure.Video, "fives")
	analysis := f.analyze(t, u.Source)
	check.Error(t, "open analysis", f.Erase(t.Context(), f.caller, analysis), failure.Unfinished, unfinished)
	_, err = f.DeleteAnalysis(t.Context(), f.caller, analysis)
	check.Must(t, err)
	check.Must(t, f.Erase(t.Context(), f.caller, analysis))
	f.wantErased(t, analysis)
	f.wantObject(t, u.Object, true)
}

// TestEraseLine erases the request of a line while its batch isn't finished, which is refused, and after that.
func TestEraseLine(t *testing.T) {
	f := newFixture(t)
	b := f.batch(t, variants(2))
	f.complete(t, b.RequestID(0))
	const refusal = "the batch of the lipsync request is not finished; cancel it first, or wait for its end"
	check.Error(t, "unfinished batch", f.Erase(t.Context(), f.caller, b.RequestID(0)), failure.Unfinished, refusal)
	f.complete(t, b.RequestID(1))
	f.later(t)
	check.Must(t, f.Erase(t.Context(), f.caller, b.RequestID(0)))
	f.wantErased(t, b.RequestID(0))
	b, err := f.Store.Batches.ByID(t.Context(), b.ID)
	check.Must(t, err)
	f.wantLines(t, "after the erase", b, "cc")
	f.later(t)
	f.wantErased(t, b.RequestID(0)) // no sweep made it again
}

// TestEraseAll erases an account with finished requests, a batch and findings, beside an open request and another account.
func TestEraseAll(t *testing.T) {
	f := newFixture(t)
	f.GenerateRate = 1000
	_, stranger := f.newCaller(t, "b", 0)
	others := f.keepFindings(t, stranger, "video", "x", "of b")
	kept := f.keepFindings(t, f.caller, "video", "x", "of a")
	_, err := f.Cancel(t.Context(), f.caller, kept.ID)
	check.Must(t, err)
	var ids []string
	for range 3 {
		ids = append(ids, f.generate(t, ""))
		f.complete(t, ids[len(ids)-1])
	}
	b := f.batch(t, variants(1))
	f.complete(t, b.RequestID(0))
	erased, more, err := f.EraseAll(t.Context(), f.caller)
	check.Error(t, "beside an unfinished batch", err, failure.Unfinished, "lipsync requests or batches that are not finished need the others; cancel them first, or wait for their end")
	check.Want(t, "erased", erased, 4)
	check.Want(t, "more", more, true)
	f.later(t)
	open := f.generate(t, "")
	erased, more, err = f.EraseAll(t.Context(), f.caller)
	check.Must(t, err)
	check.Want(t, "erased, with the batch", erased, 2)
	check.Want(t, "more", more, false)
	for _, id := range append(ids, kept.ID, b.RequestID(0)) {
		f.wantErased(t, id)
	}
	_, err = f.Store.Batches.ByID(t.Context(), b.ID)
	check.Want(t, "batch", failure.CodeOf(err), failure.NotFound)
	_, _, err = f.Request(t.Context(), f.caller, open)
	check.Must(t, err)
	f.wantFindings(t, others, "video", "x", "of b")
	findings := 0
	check.Must(t, f.Objects.List(t.Context(), "findings/", func(string, time.Time) error { findings++; return nil }))
	check.Want(t, "findings", findings, 1)
}

// canceledLines stores an unfinished batch whose requests are canceled.
func (f *fixture) canceledLines(t *testing.T, n int) lipsync.Batch {
	t.Helper()
	b := lipsync.Batch{ID: f.NewID(), Account: "a", Lines: strings.Repeat(string(lipsync.LineQueued), n), CreatedAt: f.clock.Now(), Version: 1}
	check.Must(t, f.Store.Batches.Create(t.Context(), b, lipsync.Limits{}))
	for n := range len(b.Lines) {
		r := lipsync.Request{ID: b.RequestID(n), Account: "a", Status: lipsync.Queued, CreatedAt: f.clock.Now()}
		_, _, err := f.Store.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{})
		check.Must(t, err)
		_, err = lipsynctest.Cancel(t.Context(), f.Store.Leases, r.ID, f.clock.Now())
		check.Must(t, err)
	}
	return b
}

// finish finishes a batch of canceledLines.
func (f *fixture) finish(t *testing.T, b lipsync.Batch) {
	t.Helper()
	b.Lines, b.FinishedAt = strings.Repeat(string(lipsync.LineCanceled), len(b.Lines)), f.clock.Now()
	check.Must(t, f.Store.Batches.Swap(t.Context(), b))
}

// TestEraseBehindRefused erases what is older than more requests than a page has that their unfinished batch keeps.
func TestEraseBehindRefused(t *testing.T) {
	f := newFixture(t)
	done, oldest := f.generate(t, ""), f.canceled(t)
	f.complete(t, done)
	b := f.canceledLines(t, 450)
	finished := f.canceledLines(t, 0)
	f.finish(t, finished)
	newest := f.canceled(t)
	erased, more, err := f.EraseAll(t.Context(), f.caller)
	check.Want(t, "code", failure.CodeOf(err), failure.Unfinished)
	check.Want(t, "erased", erased, 4)
	check.Want(t, "more", more, true)
	for _, id := range []string{done, oldest, newest} {
		f.wantErased(t, id)
	}
	_, err = f.Store.Batches.ByID(t.Context(), finished.ID)
	check.Want(t, "finished batch", failure.CodeOf(err), failure.NotFound)
	for _, n := range []int{0, len(b.Lines) - 1} {
		_, err = f.Store.Requests.ByID(t.Context(), b.RequestID(n))
		check.Must(t, err)
	}
}

// afterFirstPage calls do once before a page of requests behind another.
type afterFirstPage struct {
	lipsync.Requests
	do func()
}

func (s *afterFirstPage) ListFrom(ctx context.Context, q lipsync.PlaceQuery) ([]lipsync.Request, string, error) {
	if do := s.do; do != nil && q.Place != "" {
		s.do = nil
		do()
	}
	return s.Requests.ListFrom(ctx, q)
}

// TestEraseBesideAnother has a batch that ends while its requests are refused. Another call erases one of them. The first call goes on, and the next one
// erases those that were refused.
func TestEraseBesideAnother(t *testing.T) {
	f := newFixture(t)
	oldest := f.canceled(t)
	b := f.canceledLines(t, 210) // more than a page
	newest := b.RequestID(len(b.Lines) - 1)
	f.Store.Requests = &afterFirstPage{f.Store.Requests, func() {
		f.finish(t, b)
		check.Must(t, f.Erase(t.Context(), f.caller, newest))
	}}
	erased, _, err := f.EraseAll(t.Context(), f.caller)
	check.Error(t, "when some were refused", err, failure.Unfinished, "lipsync requests or batches that are not finished need the others; cancel them first, or wait for their end")
	f.wantErased(t, oldest)
	rest, more, err := f.EraseAll(t.Context(), f.caller)
	check.Must(t, err)
	check.Want(t, "erased, with the batch", erased+rest, len(b.Lines)+1)
	check.Want(t, "more", more, false)
	for _, id := range []string{b.RequestID(0), newest} {
		f.wantErased(t, id)
	}
}

// TestEraseFinishedMeanwhile has a request that ends above the place that a call has reached. The call says that more is left.
func TestEraseFinishedMeanwhile(t *testing.T) {
	f := newFixture(t)
	f.finish(t, f.canceledLines(t, 210)) // more than a page
	late := f.generate(t, "")
	f.Store.Requests = &afterFirstPage{f.Store.Requests, func() {
		_, err := f.Cancel(t.Context(), f.caller, late)
		check.Must(t, err)
	}}
	for _, left := range []bool{true, false} {
		_, more, err := f.EraseAll(t.Context(), f.caller)
		check.Must(t, err)
		check.Want(t, "more", more, left)
	}
	f.wantErased(t, late)
}

// TestEraseAtOnce erases all of an account by several calls at once, and by some for single requests. None fails, and nothing is left.
func TestEraseAtOnce(t *testing.T) {
	f := newFixture(t)
	f.GenerateRate = 100
	var ids []string
	for range 20 {
		p := f.media(t, "v", "a")
		id, err := f.Generate(t.Context(), f.caller, p)
		check.Must(t, err)
		f.complete(t, id)
		ids = append(ids, id)
	}
	b := f.batch(t, variants(1))
	_, err := f.Cancel(t.Context(), f.caller, b.RequestID(0))
	check.Must(t, err)
	f.later(t)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			if _, more, err := f.EraseAll(t.Context(), f.caller); err != nil || more {
				t.Errorf("call %d: more=%t, %v", i, more, err)
			}
		})
		all.Go(func() {
			if err := f.Erase(t.Context(), f.caller, ids[i]); failure.Unless(failure.NotFound, err) != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, id := range append(ids, b.RequestID(0)) {
		f.wantErased(t, id)
	}
	f.wantEmpty(t)
	stored, _, err := f.Stored(t.Context(), f.caller, f.clock.Now())
	check.Must(t, err)
	check.Want(t, "stored bytes", stored, 0)
}

// TestEraseInTime has a clock by which each step takes seconds. A call ends before it has erased all, and says so.
func TestEraseInTime(t *testing.T) {
	f := newFixture(t)
	f.GenerateRate = 100
	for range 40 {
		f.complete(t, f.generate(t, ""))
	}
	var mu sync.Mutex
	f.Now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		f.clock.Advance(time.Second)
		return f.clock.Now()
	}
	erased, more, err := f.EraseAll(t.Context(), f.caller)
	check.Must(t, err)
	check.Want(t, "more", more, true)
	if erased == 0 || erased > 10 {
		t.Errorf("erased %d in 10 steps", erased)
	}
}

// TestExpiredRecords tidies after the time of a record, which is not shorter than that of its output. Open requests stay.
func TestExpiredRecords(t *testing.T) {
	f := newFixture(t)
	f.Limits.Keep = lipsync.Retention{Outputs: 100 * time.Hour, Records: 24 * time.Hour}
	done := f.generate(t, "x")
	open := f.generate(t, "")
	f.complete(t, done)
	b := f.batch(t, variants(1))
	f.complete(t, b.RequestID(0))
	f.later(t)
	f.clock.Advance(100 * time.Hour)
	check.Must(t, f.Tidy(t.Context(), 0))
	_, _, err := f.Request(t.Context(), f.caller, "x")
	check.Must(t, err)
	f.clock.Advance(3 * time.Hour)
	var log strings.Builder
	f.Log = slog.New(slog.NewTextHandler(&log, nil))
	check.Must(t, f.Tidy(t.Context(), 0))
	if want := "deleted_records=3\n"; !strings.Contains(log.String(), want) {
		t.Errorf("got the log %q, want %q", log.String(), want)
	}
	f.wantErased(t, done)
	_, err = f.Store.Batches.ByID(t.Context(), b.ID)
	check.Want(t, "batch", failure.CodeOf(err), failure.NotFound)
	_, _, err = f.Request(t.Context(), f.caller, open)
	check.Must(t, err)
	page, err := f.RequestPage(t.Context(), f.caller, service.ListQuery{Limit: 10})
	check.Must(t, err)
	check.Want(t, "listed", len(page.Requests), 1)
}
