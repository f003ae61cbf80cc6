package main

import (
	"testing"

	"lipsync/internal/lipsync"
)

// TestHints sends more requests than hints may wait, and then an estimate. Each wakes a worker, and only the estimate is done at once.
func TestHints(t *testing.T) {
	h := newHints(1)
	for range cap(h.estimates) + 1 {
		if err := h.Send(t.Context(), lipsync.Request{ID: "request", Account: "a"}); err != nil {
			t.Fatal(err)
		}
	}
	<-h.wake
	if err := h.Send(t.Context(), lipsync.Request{ID: "estimate", Account: "a\x1festimates"}); err != nil {
		t.Fatal(err)
	}
	<-h.wake
	if got := <-h.estimates; got != "estimate" || len(h.estimates) != 0 {
		t.Errorf("got %q and %d more, want only the estimate", got, len(h.estimates))
	}
}
