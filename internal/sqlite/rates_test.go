package sqlite

import (
	"fmt"
	"testing"
	"time"
)

// take takes one call of a name that may make two a minute.
func take(t *testing.T, s *Store, name string, at time.Time) (wait time.Duration) {
	t.Helper()
	wait, err := s.Take(t.Context(), name, 2, at)
	if err != nil {
		t.Fatal(err)
	}
	return wait
}

// newRates returns a store with no database, which rates don't use.
func newRates() *Store { return &Store{rates: rates{windows: make(map[string]window)}} }

func TestClockSetBack(t *testing.T) {
	s, now := newRates(), time.Unix(1_800_000_000, 0)
	for i, wait := range []time.Duration{0, 0, time.Minute} {
		if got := take(t, s, "k", now); got != wait {
			t.Errorf("call %d: got a wait of %v, want %v", i, got, wait)
		}
	}
	if got := take(t, s, "k", now.Add(-time.Hour)); got != 0 {
		t.Errorf("an hour earlier: got a wait of %v, want none", got)
	}
}

func TestOldWindowsGo(t *testing.T) {
	s, now := newRates(), time.Unix(1_800_000_000, 0)
	for i := range 100 {
		take(t, s, fmt.Sprint(i), now)
	}
	take(t, s, "late", now.Add(time.Minute))
	if got := len(s.rates.windows); got != 1 {
		t.Errorf("got %d windows, want 1", got)
	}
}
