package sqlite

import (
	"fmt"
	"testing"
	"time"
)

// take counts one call of a name with two calls per minute, and returns for how long a refused one waits.
func take(t *testing.T, r *rates, name string, at time.Time) time.Duration {
	t.Helper()
	a, err := r.Take(t.Context(), name, 2, at)
	if err != nil {
		t.Fatal(err)
	}
	if !a.Refused {
		return 0
	}
	return a.Resets
}

func newRates() *rates { return &rates{windows: make(map[string]window)} }

func TestClockSetBack(t *testing.T) {
	r, now := newRates(), time.Unix(1_800_000_000, 0)
	for i, wait := range []time.Duration{0, 0, time.Minute} {
		if got := take(t, r, "k", now); got != wait {
			t.Errorf("call %d: got a wait of %v, want %v", i, got, wait)
		}
	}
	if got := take(t, r, "k", now.Add(-time.Hour)); got != 0 {
		t.Errorf("an hour earlier: got a wait of %v, want none", got)
	}
}

func TestOldWindowsGo(t *testing.T) {
	r, now := newRates(), time.Unix(1_800_000_000, 0)
	for i := range 100 {
		take(t, r, fmt.Sprint(i), now)
	}
	take(t, r, "late", now.Add(time.Minute))
	if got := len(r.windows); got != 1 {
		t.Errorf("got %d windows, want 1", got)
	}
}
