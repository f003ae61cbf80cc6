package lipsync_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"lipsync/internal/lipsync"
)

// jobs remembers what was submitted.
type jobs struct{ submitted []string }

func (j *jobs) Submit(_ context.Context, id string) error {
	j.submitted = append(j.submitted, id)
	return nil
}

func TestDispatch(t *testing.T) {
	h := newHome(t)
	for _, c := range []struct {
		name      string
		prepare   func(id string)
		submitted bool
	}{
		{"waiting", func(string) {}, true},
		{"held", func(id string) { _, err := h.Claim(t.Context(), id); must(t, err) }, false},
		{"lease ended", func(id string) {
			_, err := h.Claim(t.Context(), id)
			must(t, err)
			h.clock.Advance(lipsync.Lease)
		}, true},
		{"final", func(id string) { h.complete(t, id) }, false},
		{"canceled", func(id string) { _, err := h.Cancel(t.Context(), h.caller, id); must(t, err) }, false},
		{"canceled while held", func(id string) {
			_, err := h.Claim(t.Context(), id)
			must(t, err)
			_, err = h.Cancel(t.Context(), h.caller, id)
			must(t, err)
		}, false},
		{"spent", func(id string) {
			for range lipsync.MaxAttempts {
				_, err := h.Claim(t.Context(), id)
				must(t, err)
				h.clock.Advance(lipsync.Lease)
			}
		}, false},
	} {
		var j jobs
		h.Jobs = &j
		id := h.generate(t, "")
		c.prepare(id)
		must(t, h.Dispatch(t.Context(), id))
		want(t, c.name, fmt.Sprint(j.submitted), fmt.Sprint(map[bool][]string{true: {id}}[c.submitted]))
	}
	err := h.Dispatch(t.Context(), "unknown")
	want(t, "code of an unknown id", lipsync.CodeOf(err), lipsync.NotFound)
}

// TestJobFailed has jobs that end before they claim their request.
func TestJobFailed(t *testing.T) {
	h := newHome(t)
	id := h.generate(t, "")
	for attempt := 1; attempt <= lipsync.MaxAttempts; attempt++ {
		started := h.clock.Now()
		must(t, h.JobFailed(t.Context(), id, started))
		must(t, h.JobFailed(t.Context(), id, started)) // told twice
		r, err := h.Store.Get(t.Context(), id)
		must(t, err)
		want(t, "attempts", r.Attempts, attempt)
		h.clock.Advance(lipsync.Lease)
	}
	must(t, h.JobFailed(t.Context(), id, h.clock.Now()))
	r, err := h.Store.Get(t.Context(), id)
	must(t, err)
	want(t, "status", r.Status, lipsync.Failed)
	want(t, "failure", r.Failure, lipsync.Failure{Code: lipsync.InternalFault})
	must(t, h.JobFailed(t.Context(), id, h.clock.Now()))
	must(t, h.JobFailed(t.Context(), "unknown", h.clock.Now()))
}

// TestJobNeverRan has jobs whose container could not be started, more often than a
// request has attempts.
func TestJobNeverRan(t *testing.T) {
	h := newHome(t)
	id := h.generate(t, "")
	for range 2 * lipsync.MaxAttempts {
		must(t, h.JobFailed(t.Context(), id, time.Time{}))
		h.clock.Advance(lipsync.Lease)
	}
	h.wantAttempts(t, id, 0)
	r, err := h.Claim(t.Context(), id)
	must(t, err)
	want(t, "claims", r.Claims, 1)
}

// TestJobFailedLate is told of a job whose claim has run out meanwhile: it counts
// once. A claim that was given back doesn't count, so the job does.
func TestJobFailedLate(t *testing.T) {
	h := newHome(t)
	id, started := h.generate(t, ""), h.clock.Now()
	_, err := h.Claim(t.Context(), id)
	must(t, err)
	h.clock.Advance(2 * lipsync.Lease)
	must(t, h.JobFailed(t.Context(), id, started))
	h.wantAttempts(t, id, 1)

	started = h.clock.Now()
	r, err := h.Claim(t.Context(), id)
	must(t, err)
	must(t, h.Release(t.Context(), r))
	h.wantAttempts(t, id, 1)
	must(t, h.JobFailed(t.Context(), id, started))
	h.wantAttempts(t, id, 2)
}

func (h *home) wantAttempts(t *testing.T, id string, n int) {
	t.Helper()
	r, err := h.Store.Get(t.Context(), id)
	must(t, err)
	want(t, "attempts", r.Attempts, n)
}
