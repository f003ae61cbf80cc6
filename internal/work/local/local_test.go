package local

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"lipsync/internal/domain/lipsync"
)

// TestSend sends more requests than wake-ups may wait, and then an estimate. Each wakes a worker, and only the estimate is done at once.
func TestSend(t *testing.T) {
	s := New(1, slog.New(slog.DiscardHandler))
	for range estimatesWaiting + 1 {
		if err := s.Send(t.Context(), lipsync.Request{ID: "request", Account: "a"}); err != nil {
			t.Fatal(err)
		}
	}
	<-s.wake
	if err := s.Send(t.Context(), lipsync.Request{ID: "estimate", Account: "a", Kind: lipsync.ToEstimate}); err != nil {
		t.Fatal(err)
	}
	<-s.wake
	<-s.estimates.wake
	if got, ok := s.estimates.take(); !ok || got.ID != "estimate" || len(s.estimates.waiting) != 0 {
		t.Errorf("got %q and %d more, want only the estimate", got.ID, len(s.estimates.waiting))
	}
}

// TestEstimatesOfOneAccount adds more estimates of one account than may be done at once or wait. Those of others must be done beside them.
func TestEstimatesOfOneAccount(t *testing.T) {
	e := newEstimates()
	add := func(account string, n int) {
		for i := range n {
			e.add(lipsync.Request{ID: fmt.Sprint(account, i), Account: account})
		}
	}
	take := func(want ...string) (all []lipsync.Request) {
		t.Helper()
		var got []string
		for r, ok := e.take(); ok; r, ok = e.take() {
			all, got = append(all, r), append(got, r.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		return all
	}
	add("a", estimatesWaiting)
	add("b", 3)
	add("b", 3) // again, as sweeps do
	first := take("a0", "a1", "b0", "b1")
	e.done(first[0])
	take("a2")
	e.done(first[2])
	take("b2")
	if len(e.waiting) != waitingOfOne-3 {
		t.Errorf("%d wait, want those of one account that may", len(e.waiting))
	}
	for n := range estimatesWaiting {
		add(fmt.Sprint("c", n), 1)
	}
	if len(e.waiting) != estimatesWaiting {
		t.Errorf("%d wait, want %d", len(e.waiting), estimatesWaiting)
	}
}
