package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/test/check"
	"lipsync/internal/test/lipsynctest"
)

// TestBacklog checks the backlog while two requests of two accounts change.
func TestBacklog(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "lipsync.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	start := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	want := func(when string, now time.Time, want lipsync.Backlog) {
		t.Helper()
		if got, err := s.Backlog(t.Context(), now); got != want || err != nil {
			t.Errorf("%s: got %+v, %v, want %+v", when, got, err, want)
		}
	}
	want("empty", at(0), lipsync.Backlog{})
	for i, id := range []string{"a", "b"} {
		_, _, err := s.Requests.Create(t.Context(), lipsync.Request{ID: id, Account: "of " + id, Status: lipsync.Queued, Engine: "warp", CreatedAt: at(i)}, nil, nil, lipsync.Limits{})
		check.Must(t, err)
	}
	want("both wait", at(5), lipsync.Backlog{Queued: 2, WaitingSince: at(0)})
	_, err = s.Leases.Claim(t.Context(), "a", "token", at(5), time.Minute, lipsync.Choice{})
	check.Must(t, err)
	want("one is held", at(5), lipsync.Backlog{Queued: 1, Processing: 1, WaitingSince: at(1)})
	check.Must(t, lipsynctest.Finish(t.Context(), s.Leases, "a", "token", at(6), lipsync.Outcome{Output: "outputs/a"}))
	_, err = s.Leases.Claim(t.Context(), "b", "token", at(7), time.Minute, lipsync.Choice{})
	check.Must(t, err)
	want("held", at(8), lipsync.Backlog{Processing: 1})
	want("its lease has ended", at(70), lipsync.Backlog{Processing: 1, WaitingSince: at(67)})
}
