package service_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"lipsync/internal/domain/batches"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/service"
	"lipsync/internal/test/check"
)

// variants returns n lines with one video.
func variants(n int) batches.Params {
	var p batches.Params
	for i := range n {
		p.Lines = append(p.Lines, batches.Variant{
			Video: "https://example.com/v.mp4", Audio: fmt.Sprintf("https://example.com/%d.wav", i), Order: order.Order{ReferenceID: new(fmt.Sprint(i))},
		})
	}
	return p
}

// wantLines checks the states of the lines of a batch, as the store has them.
func (f *fixture) wantLines(t *testing.T, what string, b lipsync.Batch, want string) {
	t.Helper()
	stored, err := f.Store.Batches.ByID(t.Context(), b.ID)
	check.Must(t, err)
	if stored.Lines != want {
		t.Errorf("%s: got lines %s, want %s", what, stored.Lines, want)
	}
}

// later lets a minute pass and sweeps.
func (f *fixture) later(t *testing.T) {
	t.Helper()
	f.clock.Advance(time.Minute)
	check.Must(t, f.Sweep(t.Context()))
}

func (f *fixture) batch(t *testing.T, p batches.Params) lipsync.Batch {
	t.Helper()
	b, _, err := f.CreateBatch(t.Context(), f.caller, p)
	check.Must(t, err)
	return b
}

// TestLinesStored stores lines with one long URL whose characters JSON may escape, and with what a variant can have.
func TestLinesStored(t *testing.T) {
	f := newFixture(t)
	p := variants(lipsync.MostLines)
	for n := range p.Lines {
		p.Lines[n].Video = "https://example.com/?" + strings.Repeat("&", 8000)
	}
	f.batch(t, p)
	stored := 0
	check.Must(t, f.Objects.List(t.Context(), "batches/", func(key string, _ time.Time) error {
		stored++
		if size, err := f.Objects.Size(t.Context(), key); err != nil || size > 200<<10 {
			t.Errorf("the lines take %d bytes (%v), want the URL once", size, err)
		}
		return nil
	}))
	check.Want(t, "stored batches", stored, 1)
	if _, err := f.CheckBatch(t.Context(), f.caller, variants(lipsync.MostLines+1)); failure.CodeOf(err) != failure.Invalid {
		t.Errorf("got %v for too many lines, want Invalid", err)
	}
}

func TestBatch(t *testing.T) {
	f := newFixture(t)
	f.withReceiver(answers(http.StatusOK))
	all, ends := f.webhook(t), f.webhook(t, lipsync.RequestFailed)
	p := variants(3)
	p.Lines[1].Engine, p.Lines[1].LargestFace = "wav2lip", true
	check.Must(t, p.Lines[2].Options.Set("sync_mode", "loop"))
	p.Lines[2].Output.FileName = "name"
	b := f.batch(t, p)
	check.Want(t, "lines", b.Lines, "qqq")
	for n, l := range p.Lines {
		r, err := f.Store.Requests.ByID(t.Context(), b.RequestID(n))
		check.Must(t, err)
		engine := l.Engine
		if engine == "" {
			engine = "warp"
		}
		options := l.Options
		options.Output = l.Output
		check.Want(t, "request", r, lipsync.Request{
			ID: r.ID, Class: map[string]lipsync.Class{"wav2lip": lipsync.Neural}[engine], Account: "a", KeyID: f.caller.KeyID, ReferenceID: *l.ReferenceID, Status: lipsync.Queued, LargestFace: l.LargestFace,
			Video: lipsync.Input{URL: l.Video}, Audio: lipsync.Input{URL: l.Audio}, Engine: engine, Options: options, Targets: r.Targets, CreatedAt: f.clock.Now(),
		})
	}
	check.Want(t, "messages", len(f.queue.sent), 3)
	f.complete(t, b.RequestID(0))
	_, err := f.Claim(t.Context(), b.RequestID(1))
	check.Must(t, err)
	got, err := f.Batch(t.Context(), f.caller, strings.ToUpper(b.ID))
	check.Must(t, err)
	check.Want(t, "read before a sweep", got.Lines, "cpq")
	f.later(t)
	f.wantLines(t, "after a sweep", b, "cpq")
	_, err = f.Cancel(t.Context(), f.caller, b.RequestID(1))
	check.Must(t, err)
	f.complete(t, b.RequestID(2))
	f.later(t)
	f.wantLines(t, "in the end", b, "cxc")
	got, err = f.Batch(t.Context(), f.caller, b.ID)
	check.Must(t, err)
	check.Want(t, "status", got.Status(), lipsync.BatchCompleted)
	check.Want(t, "end", got.FinishedAt, f.clock.Now())
	check.Want(t, "counts", got.Counts(), lipsync.Counts{Lines: 3, Completed: 2, Canceled: 1})
	f.later(t)
	f.later(t)
	events := 0
	for _, d := range f.deliveries(t, all) {
		if d.Type == lipsync.BatchFinished {
			events++
			check.Want(t, "subject", d.Request, b.ID)
		}
	}
	check.Want(t, "events of the batch", events, 1)
	check.Want(t, "events of one that wants failures", len(f.deliveries(t, ends)), 0)
	_, c := f.newCaller(t, "other", 0)
	_, err = f.Batch(t.Context(), c, b.ID)
	check.Error(t, "of another account", err, failure.NotFound, "batch not found")
	_, err = f.CancelBatch(t.Context(), f.caller, b.ID)
	check.Error(t, "cancel", err, failure.Finished, "batch is already finished")
}

// TestBatchRefused has batches of which no request may be made.
func TestBatchRefused(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct {
		name, message string
		change        func(p *batches.Params)
	}{
		{"empty", "a batch has 1 to 1000 lines", func(p *batches.Params) { p.Lines = nil }},
		{"too long", "a batch has 1 to 1000 lines", func(p *batches.Params) { *p = variants(1001) }},
		{"no video", "line 2: video URL must be an absolute http or https URL with a host, no user name and at most 8192 bytes",
			func(p *batches.Params) { p.Lines[1].Video = "" }},
		{"no upload", "line 3: audio upload does not exist", func(p *batches.Params) { p.Lines[2].Audio = "upload://x" }},
		{"engine", "line 1: model must be one of: warp, wav2lip", func(p *batches.Params) { p.Lines[0].Engine = "x" }},
		{"webhook", "webhook_url must be the URL of a webhook of the account, with any query",
			func(p *batches.Params) { p.WebhookURL = new("https://example.com/none") }},
		{"key", "Idempotency-Key must be 1 to 255 characters", func(p *batches.Params) { p.IdempotencyKey = new("") }},
	} {
		p := variants(3)
		c.change(&p)
		_, _, err := f.CreateBatch(t.Context(), f.caller, p)
		check.Error(t, c.name, err, failure.Invalid, c.message)
	}
	p := variants(4)
	p.Lines[1].Audio, p.Lines[3].ReferenceID = "ftp://example.com/a", new("")
	problems, err := f.CheckBatch(t.Context(), f.caller, p)
	check.Must(t, err)
	check.Want(t, "problems", fmt.Sprint(problems), "[{2 audio URL must be an absolute http or https URL with a host, no user name and at most 8192 bytes} "+
		"{4 reference_id must be 1 to 255 characters}]")
	_, total, err := f.Requests(t.Context(), f.caller, service.ListQuery{Limit: 1})
	check.Must(t, err)
	check.Want(t, "requests", total, 0)
	batches, err := f.Batches(t.Context(), f.caller, "", 10)
	check.Must(t, err)
	check.Want(t, "batches", len(batches), 0)
}

func TestBatchReplay(t *testing.T) {
	f := newFixture(t)
	p := variants(2)
	p.IdempotencyKey = new("k")
	b := f.batch(t, p)
	f.clock.Advance(48 * time.Hour)
	check.Want(t, "again", f.batch(t, p).ID, b.ID)
	_, total, err := f.Requests(t.Context(), f.caller, service.ListQuery{Limit: 1})
	check.Must(t, err)
	check.Want(t, "requests", total, 2)
	other := variants(2)
	other.IdempotencyKey, other.Lines[1].Audio = p.IdempotencyKey, "https://example.com/other"
	_, _, err = f.CreateBatch(t.Context(), f.caller, other)
	check.Error(t, "another batch", err, failure.Reused, "idempotency key was used with a different request")
	_, f.caller = f.newCaller(t, "b", 0)
	if f.batch(t, p).ID == b.ID {
		t.Error("two accounts have one batch")
	}
}

// TestCallOfBatch makes a request in the call that makes a batch, one in a repeated call and one in a sweep. All name the first call.
func TestCallOfBatch(t *testing.T) {
	f := newFixture(t)
	f.Limits.Open = 1
	p := variants(3)
	p.IdempotencyKey = new("k")
	f.caller.CallID = "the call"
	b := f.batch(t, p)
	f.complete(t, b.RequestID(0))
	f.caller.CallID = "another call"
	f.batch(t, p)
	f.wantLines(t, "after the repeated call", b, "qqw")
	f.complete(t, b.RequestID(1))
	f.later(t)
	for n := range 3 {
		r, err := f.Store.Requests.ByID(t.Context(), b.RequestID(n))
		check.Must(t, err)
		check.Want(t, "call", r.CallID, "the call")
	}
}

// TestLinesRefusedLater has lines that could be made when the batch was, and can't be when their turn comes.
func TestLinesRefusedLater(t *testing.T) {
	for name, c := range map[string]struct {
		change func(f *fixture)
		want   lipsync.LineState
		reason string
	}{
		"the model is gone": {func(f *fixture) { f.Engines = []string{"wav2lip"} }, lipsync.LineUnoffered, "the service no longer has the model or an option of the line"},
		"the lines are gone": {func(f *fixture) {
			check.Must(t, f.Objects.DeleteAll(t.Context(), "batches/"))
		}, lipsync.LineForgotten, "the line waited for too long"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.Limits.Open = 1
			p := variants(2)
			p.Lines[0].Engine, p.Lines[1].Engine = "warp", "warp"
			b := f.batch(t, p)
			made := strings.Index(b.Lines, "q") // either may be faster
			c.change(f)
			f.complete(t, b.RequestID(made))
			f.later(t)
			got, err := f.Batch(t.Context(), f.caller, b.ID)
			check.Must(t, err)
			check.Want(t, "counts", got.Counts(), lipsync.Counts{Lines: 2, Completed: 1, Refused: 1})
			refused := got.State(1 - made)
			check.Want(t, "state", refused, c.want)
			check.Want(t, "reason", refused.Problem(), c.reason)
			check.Want(t, "has a request", refused.Made(), false)
		})
	}
}

// TestBatchLimits makes a batch of more requests than an account may have open.
func TestBatchLimits(t *testing.T) {
	f := newFixture(t)
	f.Limits.Open = 3
	b := f.batch(t, variants(7))
	check.Want(t, "made by the call", strings.Count(b.Lines, "q"), 3)
	for made := 3; made < 7; {
		f.later(t)
		stored, err := f.Store.Batches.ByID(t.Context(), b.ID)
		check.Must(t, err)
		check.Want(t, "made", 7-strings.Count(stored.Lines, "w"), made)
		if n := strings.IndexAny(stored.Lines, "q"); n >= 0 {
			f.complete(t, b.RequestID(n))
			made++
		}
	}
	f.later(t)
	_, total, err := f.Requests(t.Context(), f.caller, service.ListQuery{Limit: 1})
	check.Must(t, err)
	check.Want(t, "requests", total, 7)
}

// TestBatchLinesRefused has lines whose requests can't be made when their turn comes.
func TestBatchLinesRefused(t *testing.T) {
	f := newFixture(t)
	_, f.caller = f.newCaller(t, "a", 2)
	b := f.batch(t, variants(3))
	c := b.Counts()
	check.Want(t, "counts with a used up key", c, lipsync.Counts{Lines: 3, Queued: 2, Refused: 1})
	n := strings.Index(b.Lines, string(lipsync.LineOverLimit))
	check.Want(t, "problem", b.State(n).Problem(), "token limit reached")

	f = newFixture(t)
	f.Limits.Open = 1
	p := variants(2)
	u := f.upload(t, failure.Audio, "fives")
	p.Lines[0].Audio, p.Lines[1].Audio = u.Source, u.Source
	f.generate(t, "")
	b = f.batch(t, p)
	check.Want(t, "lines of a full account", b.Lines, "ww")
	check.Must(t, f.Store.Uploads.Delete(t.Context(), u.Upload))
	f.Limits.Open = 2
	f.later(t)
	f.wantLines(t, "after the loss of the upload", b, "rr")
	got, err := f.Batch(t.Context(), f.caller, b.ID)
	check.Must(t, err)
	check.Want(t, "status", got.Status(), lipsync.BatchCompleted)
	check.Want(t, "finished", got.FinishedAt.IsZero(), false)
}

func TestCancelBatch(t *testing.T) {
	f := newFixture(t)
	f.Limits.Open = 3
	b := f.batch(t, variants(5))
	made := strings.Index(b.Lines, "q")
	f.complete(t, b.RequestID(made))
	got, err := f.CancelBatch(t.Context(), f.caller, b.ID)
	check.Must(t, err)
	check.Want(t, "status", got.Status(), lipsync.BatchCanceling)
	check.Want(t, "counts", got.Counts(), lipsync.Counts{Lines: 5, Waiting: 2, Completed: 1, Canceled: 2})
	again, err := f.CancelBatch(t.Context(), f.caller, b.ID)
	check.Must(t, err)
	check.Want(t, "canceled again", again.CanceledAt, got.CanceledAt)
	f.later(t)
	f.later(t)
	f.later(t)
	got, err = f.Batch(t.Context(), f.caller, b.ID)
	check.Must(t, err)
	check.Want(t, "status in the end", got.Status(), lipsync.BatchCanceled)
	check.Want(t, "counts in the end", got.Counts(), lipsync.Counts{Lines: 5, Completed: 1, Canceled: 4})
	check.Want(t, "finished", got.FinishedAt.IsZero(), false)
	_, total, err := f.Requests(t.Context(), f.caller, service.ListQuery{Limit: 1})
	check.Must(t, err)
	check.Want(t, "requests", total, 3)
}

// forgetful is a lipsync.Batches that can't be changed for a while, as if each process that tries to died just before.
type forgetful struct {
	lipsync.Batches
	mu    sync.Mutex
	fails int
}

func (s *forgetful) Swap(ctx context.Context, b lipsync.Batch) error {
	s.mu.Lock()
	s.fails--
	fails := s.fails >= 0
	s.mu.Unlock()
	if fails {
		return errors.New("the process died")
	}
	return s.Batches.Swap(ctx, b)
}

// TestBatchSurvives ends processes after they made requests of a batch and before they noted that. No line gets two requests, and none is left out,
// also if the batch is canceled then.
func TestBatchSurvives(t *testing.T) {
	for _, cancel := range []bool{false, true} {
		f := newFixture(t)
		store := &forgetful{Batches: f.Store.Batches, fails: 2}
		f.Store.Batches = store
		b := f.batch(t, variants(40))
		check.Must(t, f.Recover(t.Context())) // doesn't delete the lines
		f.clock.Advance(time.Minute)
		if err := f.Sweep(t.Context()); err == nil {
			t.Error("the second process didn't die")
		}
		f.wantLines(t, "after two processes", b, strings.Repeat("w", 40))
		_, total, err := f.Requests(t.Context(), f.caller, service.ListQuery{Limit: 1})
		check.Must(t, err)
		if total == 0 || total > 20 {
			t.Errorf("two processes made %d requests of 40", total)
		}
		if cancel {
			_, err := f.CancelBatch(t.Context(), f.caller, b.ID)
			check.Must(t, err)
		}
		for range 3 {
			f.later(t)
		}
		_, after, err := f.Requests(t.Context(), f.caller, service.ListQuery{Limit: 1})
		check.Must(t, err)
		stored, err := f.Store.Batches.ByID(t.Context(), b.ID)
		check.Must(t, err)
		if cancel {
			check.Want(t, "requests of a canceled batch", after, total)
			check.Want(t, "canceled requests", strings.Count(stored.Lines, "x"), int(total))
			check.Want(t, "lines without a request", strings.Count(stored.Lines, "d"), 40-int(total))
		} else {
			check.Want(t, "lines in the end", stored.Lines, strings.Repeat("q", 40))
			check.Want(t, "requests", after, 40)
		}
	}
}
