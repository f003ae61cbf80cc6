package lipsync_test

import (
	"testing"
	"time"

	"lipsync/internal/lipsync"
)

func TestProgress(t *testing.T) {
	h := newFixture(t)
	id := h.generate(t, "x")
	see := func(what string, status lipsync.Status, p lipsync.Progress) {
		t.Helper()
		for _, name := range []string{id, "x"} {
			r, got, err := h.Progress(t.Context(), h.caller, name)
			must(t, err)
			want(t, what+": status", r.Status, status)
			want(t, what+": progress", got, p)
		}
	}
	none := lipsync.Progress{}
	see("new", lipsync.Queued, none)
	r, err := h.Claim(t.Context(), id)
	must(t, err)
	see("claimed", lipsync.Processing, none)
	p := lipsync.Progress{Stage: lipsync.Analyzing, Percent: 20, Ends: h.clock.Now().Add(10 * time.Second)}
	must(t, h.Report(t.Context(), r, p))
	see("reported", lipsync.Processing, p)
	h.clock.Advance(10 * time.Second)
	p.Ends = time.Time{}
	see("late", lipsync.Processing, p)
	h.clock.Advance(lipsync.Lease)
	see("lease ended", lipsync.Processing, none)

	r, err = h.Claim(t.Context(), id)
	must(t, err)
	see("second attempt", lipsync.Processing, none)
	must(t, h.Report(t.Context(), r, p))
	must(t, h.Release(t.Context(), r))
	see("given back", lipsync.Processing, none)
	h.complete(t, id)
	see("completed", lipsync.Completed, lipsync.Progress{Percent: 100})

	failed := h.generate(t, "failed")
	_, err = h.Cancel(t.Context(), h.caller, failed)
	must(t, err)
	_, got, err := h.Progress(t.Context(), h.caller, failed)
	must(t, err)
	want(t, "failed", got, none)
}

func TestProgressOfOthers(t *testing.T) {
	h := newFixture(t)
	_, other := h.newCaller(t, "b", 0)
	for _, name := range []string{h.generate(t, "x"), "x", "unknown", ""} {
		_, _, err := h.Progress(t.Context(), other, name)
		wantError(t, name, err, lipsync.NotFound, "lipsync request not found")
	}
}

// TestReportLost checks that a worker that lost its request can't report progress.
func TestReportLost(t *testing.T) {
	h := newFixture(t)
	h.generate(t, "x")
	slow, err := h.Claim(t.Context(), "")
	must(t, err)
	h.clock.Advance(lipsync.Lease)
	must(t, h.Held(t.Context(), slow))
	_, err = h.Claim(t.Context(), "")
	must(t, err)
	want(t, "code of a report", lipsync.CodeOf(h.Report(t.Context(), slow, lipsync.Progress{Percent: 90})), lipsync.Conflict)
	want(t, "code of a look", lipsync.CodeOf(h.Held(t.Context(), slow)), lipsync.Conflict)
	_, p, err := h.Progress(t.Context(), h.caller, "x")
	must(t, err)
	want(t, "progress", p, lipsync.Progress{})
}
