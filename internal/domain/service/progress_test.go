package service_test

import (
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/test/check"
)

func TestProgress(t *testing.T) {
	f := newFixture(t)
	id := f.generate(t, "x")
	see := func(what string, status lipsync.Status, p lipsync.Progress) {
		t.Helper()
		for _, name := range []string{id, "x"} {
			r, got, _, err := f.Progress(t.Context(), f.caller, name)
			check.Must(t, err)
			check.Want(t, what+": status", r.Status, status)
			check.Want(t, what+": progress", got, p)
		}
	}
	none := lipsync.Progress{}
	see("new", lipsync.Queued, none)
	r, err := f.Claim(t.Context(), id)
	check.Must(t, err)
	see("claimed", lipsync.Processing, none)
	p := lipsync.Progress{Stage: order.Analyzing, Percent: 20, Ends: f.clock.Now().Add(10 * time.Second)}
	check.Must(t, f.Report(t.Context(), r, p))
	see("reported", lipsync.Processing, p)
	f.clock.Advance(10 * time.Second)
	p.Ends = time.Time{}
	see("late", lipsync.Processing, p)
	f.clock.Advance(lipsync.Lease)
	see("lease ended", lipsync.Processing, none)

	r, err = f.Claim(t.Context(), id)
	check.Must(t, err)
	see("second attempt", lipsync.Processing, none)
	check.Must(t, f.Report(t.Context(), r, p))
	check.Must(t, f.Release(t.Context(), r))
	see("given back", lipsync.Processing, none)
	f.complete(t, id)
	see("completed", lipsync.Completed, lipsync.Progress{Percent: 100})

	failed := f.generate(t, "failed")
	_, err = f.Cancel(t.Context(), f.caller, failed)
	check.Must(t, err)
	_, got, _, err := f.Progress(t.Context(), f.caller, failed)
	check.Must(t, err)
	check.Want(t, "failed", got, none)
}

func TestProgressOfOthers(t *testing.T) {
	f := newFixture(t)
	_, other := f.newCaller(t, "b", 0)
	for _, name := range []string{f.generate(t, "x"), "x", "unknown", ""} {
		_, _, _, err := f.Progress(t.Context(), other, name)
		check.Error(t, name, err, failure.NotFound, "lipsync request not found")
	}
}

// TestReportLost checks that a worker that lost its request can't report progress.
func TestReportLost(t *testing.T) {
	f := newFixture(t)
	f.generate(t, "x")
	slow, err := f.Claim(t.Context(), "")
	check.Must(t, err)
	f.clock.Advance(lipsync.Lease)
	check.Must(t, f.Held(t.Context(), slow))
	_, err = f.Claim(t.Context(), "")
	check.Must(t, err)
	check.Want(t, "code of a report", failure.CodeOf(f.Report(t.Context(), slow, lipsync.Progress{Percent: 90})), failure.Conflict)
	check.Want(t, "code of a look", failure.CodeOf(f.Held(t.Context(), slow)), failure.Conflict)
	_, p, _, err := f.Progress(t.Context(), f.caller, "x")
	check.Must(t, err)
	check.Want(t, "progress", p, lipsync.Progress{})
}
