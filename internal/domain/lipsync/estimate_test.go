package lipsync_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/lipsync"
)

// TestEstimate makes an estimate, which uses nothing of the key's limit, is in no list, and is kept as long as an output.
func TestEstimate(t *testing.T) {
	f := newFixture(t)
	f.Workers = 1
	_, f.caller = f.newCaller(t, "a", 1)
	p := urls()
	p.ReferenceID, p.IdempotencyKey, p.Engine = new("x"), new("once"), "wav2lip"
	id, err := f.Estimate(t.Context(), f.caller, p)
	must(t, err)
	e, err := f.Estimated(t.Context(), f.caller, id)
	must(t, err)
	want(t, "status", e.Status, lipsync.Queued)
	want(t, "nothing found yet", e.Estimate == nil, true)

	r, err := f.Claim(t.Context(), "")
	must(t, err)
	want(t, "claimed", r.ID == id && r.IsEstimate() && !r.IsAnalysis(), true)
	want(t, "account", r.Account, f.caller.Account)
	made := lipsync.Estimate{VideoSeconds: 2, AudioSeconds: 3, OutputSeconds: 3, Frames: 75, Size: 2000}
	must(t, f.CompleteEstimate(t.Context(), r, made))
	must(t, f.Tidy(t.Context(), 0))
	e, err = f.Estimated(t.Context(), f.caller, id)
	must(t, err)
	want(t, "status", e.Status, lipsync.Completed)
	want(t, "estimate", reflect.DeepEqual(e.Estimate, &made), true)
	want(t, "time, before one was measured", e.Took, 0)
	want(t, "place", e.Place, lipsync.Place{Position: 1})

	must(t, f.NoteSpeed(t.Context(), lipsync.Request{Engine: "wav2lip"}, 1000, 10*time.Second))
	must(t, f.NoteSpeed(t.Context(), lipsync.Request{Engine: "warp"}, 1000, time.Second))
	_, err = f.Generate(t.Context(), f.caller, p) // the estimate has used neither the limit nor the idempotency key
	must(t, err)
	e, err = f.Estimated(t.Context(), f.caller, id)
	must(t, err)
	want(t, "time", e.Took, 20*time.Second)
	want(t, "place behind the request", e.Place, lipsync.Place{Position: 2, Left: 5500*time.Millisecond + 20*time.Second})

	_, other := f.newCaller(t, "other", 0)
	for _, c := range []struct {
		caller lipsync.Caller
		id     string
	}{{other, id}, {f.caller, "x"}, {f.caller, f.NewID()}} {
		_, err = f.Estimated(t.Context(), c.caller, c.id)
		wantError(t, c.id, err, lipsync.NotFound, "estimate not found")
	}
	_, err = f.Details(t.Context(), f.caller, id)
	wantError(t, "as a request", err, lipsync.NotFound, "lipsync request not found")
	_, total, err := f.Requests(t.Context(), f.caller, lipsync.ListQuery{Limit: 10})
	must(t, err)
	want(t, "requests", total, 1)

	f.clock.Advance(30 * 24 * time.Hour)
	e, err = f.Estimated(t.Context(), f.caller, id)
	must(t, err)
	want(t, "expired", e.Estimate == nil, true)
}

// countedSpeeds counts how often the speeds are read.
type countedSpeeds struct {
	lipsync.Speeds
	n int
}

func (s *countedSpeeds) All(ctx context.Context) (map[string]lipsync.Speed, error) {
	s.n++
	return s.Speeds.All(ctx)
}

// TestEstimatedReads reads a completed estimate, also while the store is too busy to tell its place. That reads the speeds once.
func TestEstimatedReads(t *testing.T) {
	f := newFixture(t)
	f.Workers = 1
	id, err := f.Estimate(t.Context(), f.caller, urls())
	must(t, err)
	r, err := f.Claim(t.Context(), id)
	must(t, err)
	must(t, f.CompleteEstimate(t.Context(), r, lipsync.Estimate{Size: 2000}))
	must(t, f.NoteSpeed(t.Context(), lipsync.Request{Engine: "warp"}, 1000, 10*time.Second))
	speeds := &countedSpeeds{Speeds: f.Store.Speeds}
	f.Store.Speeds = speeds
	for _, wanted := range []lipsync.Place{{Position: 1, Left: 20 * time.Second}, {}} {
		speeds.n = 0
		e, err := f.Estimated(t.Context(), f.caller, id)
		must(t, err)
		want(t, "time", e.Took, 20*time.Second)
		want(t, "place", e.Place, wanted)
		want(t, "reads of the speeds", speeds.n, 1)
		f.Store.Leases = busyLine{f.Store.Leases}
	}
}

// TestEstimatedPool tells the times of estimated requests whose workers are in a pool. The worker that made an estimate is idle for a while.
func TestEstimatedPool(t *testing.T) {
	f := newFixture(t)
	f.Pooled, f.Workers = true, 10
	must(t, f.NoteSpeed(t.Context(), lipsync.Request{Engine: "warp"}, 1000, time.Minute))
	estimate := func() (id string) {
		id, err := f.Estimate(t.Context(), f.caller, urls())
		must(t, err)
		r, err := f.Claim(t.Context(), id)
		must(t, err)
		must(t, f.CompleteEstimate(t.Context(), r, lipsync.Estimate{Size: 1000}))
		return id
	}
	left := func(what, id string, wanted time.Duration) {
		t.Helper()
		e, err := f.Estimated(t.Context(), f.caller, id)
		must(t, err)
		want(t, what, e.Place.Left, wanted)
	}
	const took = time.Minute
	first := estimate()
	left("while the worker is idle", first, took)
	f.clock.Advance(lipsync.StartTime - time.Second)
	left("just before its end", first, took)
	f.clock.Advance(time.Second)
	left("after its end", first, lipsync.StartTime+took)

	second := estimate()
	id := f.generate(t, "")
	left("behind a request that the worker takes next", second, 2*took)
	f.clock.Advance(time.Second)
	r, err := f.Claim(t.Context(), id)
	must(t, err)
	left("while it is busy", second, 2*took)
	f.clock.Advance(time.Second)
	third := estimate()
	left("with another worker, which made an estimate", third, took)
	f.clock.Advance(time.Minute)
	must(t, f.Complete(t.Context(), r, strings.NewReader("output"), 6))
	left("after the other one was done", third, took)
}

// TestEstimateRefused makes calls that generate refuses.
func TestEstimateRefused(t *testing.T) {
	f := newFixture(t)
	for message, spoil := range map[string]func(*lipsync.RequestParams){
		"model must be one of: warp, wav2lip":                                     func(p *lipsync.RequestParams) { p.Engine = "x" },
		"reference_id must be 1 to 255 characters":                                func(p *lipsync.RequestParams) { p.ReferenceID = new("") },
		"audio upload does not exist":                                             func(p *lipsync.RequestParams) { p.Audio.URL = "upload://x" },
		"webhook_url must be the URL of a webhook of the account, with any query": func(p *lipsync.RequestParams) { p.WebhookURL = new("https://example.com/w") },
		"audios with ref need segments":                                           func(p *lipsync.RequestParams) { p.AudioRef = "x" },
	} {
		p := urls()
		spoil(&p)
		_, err := f.Estimate(t.Context(), f.caller, p)
		wantError(t, message, err, lipsync.Invalid, message)
	}
}

// TestProblems tells errors that a client can correct from those of the service.
func TestProblems(t *testing.T) {
	fault := func(code lipsync.FailureCode) error {
		return lipsync.Failure{Code: code, Details: lipsync.Details{Kind: lipsync.Video}}.Because(nil)
	}
	all, err := lipsync.Problems(nil, fault(lipsync.MediaUnsupported), nil, fault(lipsync.MediaUnreachable))
	must(t, err)
	want(t, "problems", reflect.DeepEqual(all, []lipsync.Problem{
		{Code: lipsync.MediaUnsupported, Message: "video is not a supported format"},
		{Code: lipsync.MediaUnreachable, Message: "video URL is not accessible"},
	}), true)
	for _, ours := range []error{errors.New("x"), fault(lipsync.HostFailing), fault(lipsync.InternalFault)} {
		if all, err := lipsync.Problems(fault(lipsync.NoPicture), ours); err != ours || all != nil {
			t.Errorf("got %v and %v, want %v", all, err, ours)
		}
	}
}
