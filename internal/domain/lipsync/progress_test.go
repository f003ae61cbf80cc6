package lipsync_test

import (
	"testing"
	"time"

	"lipsync/internal/domain/lipsync"
)

func TestProgress(t *testing.T) {
	f := newFixture(t)
	id := f.generate(t, "x")
	see := func(what string, status lipsync.Status, p lipsync.Progress) {
		t.Helper()
		for _, name := range []string{id, "x"} {
			r, got, _, err := f.Progress(t.Context(), f.caller, name)
			must(t, err)
			want(t, what+": status", r.Status, status)
			want(t, what+": progress", got, p)
		}
	}
	none := lipsync.Progress{}
	see("new", lipsync.Queued, none)
	r, err := f.Claim(t.Context(), id)
	must(t, err)
	see("claimed", lipsync.Processing, none)
	p := lipsync.Progress{Stage: lipsync.Analyzing, Percent: 20, Ends: f.clock.Now().Add(10 * time.Second)}
	must(t, f.Report(t.Context(), r, p))
	see("reported", lipsync.Processing, p)
	f.clock.Advance(10 * time.Second)
	p.Ends = time.Time{}
	see("late", lipsync.Processing, p)
	f.clock.Advance(lipsync.Lease)
	see("lease ended", lipsync.Processing, none)

	r, err = f.Claim(t.Context(), id)
	must(t, err)
	see("second attempt", lipsync.Processing, none)
	must(t, f.Report(t.Context(), r, p))
	must(t, f.Release(t.Context(), r))
	see("given back", lipsync.Processing, none)
	f.complete(t, id)
	see("completed", lipsync.Completed, lipsync.Progress{Percent: 100})

	failed := f.generate(t, "failed")
	_, err = f.Cancel(t.Context(), f.caller, failed)
	must(t, err)
	_, got, _, err := f.Progress(t.Context(), f.caller, failed)
	must(t, err)
	want(t, "failed", got, none)
}

func TestProgressOfOthers(t *testing.T) {
	f := newFixture(t)
	_, other := f.newCaller(t, "b", 0)
	for _, name := range []string{f.generate(t, "x"), "x", "unknown", ""} {
		_, _, _, err := f.Progress(t.Context(), other, name)
		wantError(t, name, err, lipsync.NotFound, "lipsync request not found")
	}
}

// TestReportLost checks that a worker that lost its request can't report progress.
func TestReportLost(t *testing.T) {
	f := newFixture(t)
	f.generate(t, "x")
	slow, err := f.Claim(t.Context(), "")
	must(t, err)
	f.clock.Advance(lipsync.Lease)
	must(t, f.Held(t.Context(), slow))
	_, err = f.Claim(t.Context(), "")
	must(t, err)
	want(t, "code of a report", lipsync.CodeOf(f.Report(t.Context(), slow, lipsync.Progress{Percent: 90})), lipsync.Conflict)
	want(t, "code of a look", lipsync.CodeOf(f.Held(t.Context(), slow)), lipsync.Conflict)
	_, p, _, err := f.Progress(t.Context(), f.caller, "x")
	must(t, err)
	want(t, "progress", p, lipsync.Progress{})
}
