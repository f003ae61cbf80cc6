package dynamodb_test

import (
	"testing"
	"time"
)

// TestRateClocks takes from a rate of two by clocks that differ.
func TestRateClocks(t *testing.T) {
	s, now := open(t), time.Unix(1_800_000_000, 0)
	for i, c := range []struct {
		after time.Duration
		wait  time.Duration
	}{
		{0, 0},
		{-5 * time.Millisecond, 0}, // another machine's clock
		{-5 * time.Millisecond, time.Minute + 5*time.Millisecond},
		{0, time.Minute},
		{-time.Hour, 0}, // set back
	} {
		got, err := s.Take(t.Context(), "k", 2, now.Add(c.after))
		if err != nil || got != c.wait {
			t.Errorf("call %d: got a wait of %v (%v), want %v", i, got, err, c.wait)
		}
	}
}
