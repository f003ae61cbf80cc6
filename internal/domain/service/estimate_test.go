package service_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
	"lipsync/internal/domain/service"
	"lipsync/internal/test/check"
)

// TestEstimate makes an estimate, which uses nothing of the key's limit, is in no list, and is kept as long as an output.
func TestEstimate(t *testing.T) {
	f := newFixture(t)
	f.Workers = 1
	_, f.caller = f.newCaller(t, "a", 1)
	p := urls()
	p.ReferenceID, p.IdempotencyKey, p.Engine = new("x"), new("once"), "wav2lip"
	id, err := f.Estimate(t.Context(), f.caller, p)
	check.Must(t, err)
	e, err := f.Estimated(t.Context(), f.caller, id)
	check.Must(t, err)
	check.Want(t, "status", e.Status, lipsync.Queued)
	check.Want(t, "nothing found yet", e.Estimate == nil, true)

	r, err := f.Claim(t.Context(), "")
	check.Must(t, err)
	check.Want(t, "claimed", r.ID == id && r.IsEstimate() && !r.IsAnalysis(), true)
	check.Want(t, "account", r.Account, f.caller.Account)
	made := order.Estimate{VideoSeconds: 2, AudioSeconds: 3, OutputSeconds: 3, Frames: 75, Size: 2000}
	check.Must(t, f.CompleteEstimate(t.Context(), r, made))
	check.Must(t, f.Tidy(t.Context(), 0))
	e, err = f.Estimated(t.Context(), f.caller, id)
	check.Must(t, err)
	check.Want(t, "status", e.Status, lipsync.Completed)
	check.Want(t, "estimate", reflect.DeepEqual(e.Estimate, &made), true)
	check.Want(t, "time, before one was measured", e.Took, 0)
	check.Want(t, "place", e.Place, service.Place{Position: 1})

	check.Must(t, f.NoteSpeed(t.Context(), lipsync.Request{Engine: "wav2lip"}, 1000, 10*time.Second))
	check.Must(t, f.NoteSpeed(t.Context(), lipsync.Request{Engine: "warp"}, 1000, time.Second))
	_, err = f.Generate(t.Context(), f.caller, p) // the estimate has used neither the limit nor the idempotency key
	check.Must(t, err)
	e, err = f.Estimated(t.Context(), f.caller, id)
	check.Must(t, err)
	check.Want(t, "time", e.Took, 20*time.Second)
	check.Want(t, "place behind the request", e.Place, service.Place{Position: 2, Left: 5500*time.Millisecond + 20*time.Second})

	_, other := f.newCaller(t, "other", 0)
	for _, c := range []struct {
		caller lipsync.Caller
		id     string
	}{{other, id}, {f.caller, "x"}, {f.caller, f.NewID()}} {
		_, err = f.Estimated(t.Context(), c.caller, c.id)
		check.Error(t, c.id, err, failure.NotFound, "estimate not found")
	}
	_, err = f.Details(t.Context(), f.caller, id)
	check.Error(t, "as a request", err, failure.NotFound, "lipsync request not found")
	_, total, err := f.Requests(t.Context(), f.caller, service.ListQuery{Limit: 10})
	check.Must(t, err)
	check.Want(t, "requests", total, 1)

	f.clock.Advance(30 * 24 * time.Hour)
	e, err = f.Estimated(t.Context(), f.caller, id)
	check.Must(t, err)
	check.Want(t, "expired", e.Estimate == nil, true)
}

// countedSpeeds counts how often the speeds are read.
type countedSpeeds struct {
	lipsync.Speeds
	n int
}

func (s *countedSpeeds) All(ctx context.Context) (lipsync.Measured, error) {
	s.n++
	return s.Speeds.All(ctx)
}

// TestEstimatedReads reads a completed estimate, also while the store is too busy to tell its place. That reads the speeds once.
func TestEstimatedReads(t *testing.T) {
	f := newFixture(t)
	f.Workers = 1
	id, err := f.Estimate(t.Context(), f.caller, urls())
	check.Must(t, err)
	r, err := f.Claim(t.Context(), id)
	check.Must(t, err)
	check.Must(t, f.CompleteEstimate(t.Context(), r, order.Estimate{Size: 2000}))
	check.Must(t, f.NoteSpeed(t.Context(), lipsync.Request{Engine: "warp"}, 1000, 10*time.Second))
	speeds := &countedSpeeds{Speeds: f.Store.Speeds}
	f.Store.Speeds = speeds
	for _, wanted := range []service.Place{{Position: 1, Left: 20 * time.Second}, {}} {
		speeds.n = 0
		e, err := f.Estimated(t.Context(), f.caller, id)
		check.Must(t, err)
		check.Want(t, "time", e.Took, 20*time.Second)
		check.Want(t, "place", e.Place, wanted)
		check.Want(t, "reads of the speeds", speeds.n, 1)
		f.Store.Leases = busyContest{f.Store.Leases}
	}
}

// TestEstimatedPool tells the times of estimated requests whose workers are in a pool. The worker that made an estimate is idle for a while.
func TestEstimatedPool(t *testing.T) {
	f := newFixture(t)
	f.Pooled, f.Workers = true, 10
	check.Must(t, f.NoteSpeed(t.Context(), lipsync.Request{Engine: "warp"}, 1000, time.Minute))
	estimate := func() (id string) {
		id, err := f.Estimate(t.Context(), f.caller, urls())
		check.Must(t, err)
		r, err := f.Claim(t.Context(), id)
		check.Must(t, err)
		check.Must(t, f.CompleteEstimate(t.Context(), r, order.Estimate{Size: 1000}))
		return id
	}
	left := func(what, id string, wanted time.Duration) {
		t.Helper()
		e, err := f.Estimated(t.Context(), f.caller, id)
		check.Must(t, err)
		check.Want(t, what, e.Place.Left, wanted)
	}
	const took = time.Minute
	first := estimate()
	left("while the worker is idle", first, took)
	f.clock.Advance(service.StartTime - time.Second)
	left("just before its end", first, took)
	f.clock.Advance(time.Second)
	left("after its end", first, service.StartTime+took)

	second := estimate()
	id := f.generate(t, "")
	left("behind a request that the worker takes next", second, 2*took)
	f.clock.Advance(time.Second)
	r, err := f.Claim(t.Context(), id)
	check.Must(t, err)
	left("while it is busy", second, 2*took)
	f.clock.Advance(time.Second)
	third := estimate()
	left("with another worker, which made an estimate", third, took)
	f.clock.Advance(time.Minute)
	check.Must(t, f.Complete(t.Context(), r, strings.NewReader("output"), 6))
	left("after the other one was done", third, took)
}

// TestEstimateRefused makes calls that generate refuses.
func TestEstimateRefused(t *testing.T) {
	f := newFixture(t)
	for message, spoil := range map[string]func(*requests.Params){
		"model must be one of: warp, wav2lip":                                     func(p *requests.Params) { p.Engine = "x" },
		"reference_id must be 1 to 255 characters":                                func(p *requests.Params) { p.ReferenceID = new("") },
		"audio upload does not exist":                                             func(p *requests.Params) { p.Audios[0].URL = "upload://x" },
		"webhook_url must be the URL of a webhook of the account, with any query": func(p *requests.Params) { p.WebhookURL = new("https://example.com/w") },
		"audio is required":                                                       func(p *requests.Params) { p.Audios = nil },
		"audios with ref need segments":                                           func(p *requests.Params) { p.Audios[0].Ref = "x" },
	} {
		p := urls()
		spoil(&p)
		_, err := f.Estimate(t.Context(), f.caller, p)
		check.Error(t, message, err, failure.Invalid, message)
	}
}

// TestProblems tells errors that a client can correct from those of the service.
func TestProblems(t *testing.T) {
	fault := func(code failure.Reason) error {
		return failure.Failure{Code: code, Details: failure.Details{Kind: failure.Video}}.Because(nil)
	}
	all, err := order.Problems(nil, fault(failure.MediaUnsupported), nil, fault(failure.MediaUnreachable))
	check.Must(t, err)
	check.Want(t, "problems", reflect.DeepEqual(all, []order.Problem{
		{Code: failure.MediaUnsupported, Message: "video is not a supported format"},
		{Code: failure.MediaUnreachable, Message: "video URL is not accessible"},
	}), true)
	for _, ours := range []error{errors.New("x"), fault(failure.HostFailing), fault(failure.InternalFault)} {
		if all, err := order.Problems(fault(failure.NoPicture), ours); err != ours || all != nil {
			t.Errorf("got %v and %v, want %v", all, err, ours)
		}
	}
}
