package callers_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/callers"
	"lipsync/internal/store/dynamodb/table"
	simulated "lipsync/internal/test/simulate/table"
)

// open returns a new table in memory.
func open() *table.Table { return table.On(simulated.New(simulated.Limits{}), "t") }

// TestRateClocks takes from a rate of two calls a minute with clocks that differ.
func TestRateClocks(t *testing.T) {
	s, now := callers.Rates{Table: open()}, time.Unix(1_800_000_000, 0)
	for i, c := range []struct {
		after time.Duration
		wait  time.Duration
	}{
		{0, 0},
		{-5 * time.Millisecond, 0}, // another machine's clock
		{-5 * time.Millisecond, time.Minute + 5*time.Millisecond},
		{0, time.Minute},
		{-time.Hour, 0}, // a clock that was set back
	} {
		got, err := s.Take(t.Context(), "k", 2, now.Add(c.after))
		if err != nil || waits(got) != c.wait {
			t.Errorf("call %d: got %+v (%v), want a wait of %v", i, got, err, c.wait)
		}
	}
}

// waits returns the time until a call is allowed, 0 if this one was.
func waits(a lipsync.Allowance) time.Duration {
	if !a.Refused {
		return 0
	}
	return a.Resets
}

// TestRateLanes takes from a rate with three lanes, by many calls at once. No matter which lanes they
// draw, as many as the limit must be allowed, and the wait must be right.
func TestRateLanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 6002 // not a multiple of 3
		s, now := callers.Rates{Table: table.On(simulated.New(simulated.Limits{Call: 8 * time.Millisecond}), "t")}, time.Unix(1_800_000_000, 0)
		take := func(n int, now time.Time) int {
			var went atomic.Int64
			var all sync.WaitGroup
			for range n {
				all.Go(func() {
					a, err := s.Take(t.Context(), "k", limit, now)
					if err != nil || a.Resets <= 0 || a.Resets > time.Minute || a.Left < 0 || a.Left > limit {
						t.Errorf("got %+v (%v)", a, err)
					}
					if !a.Refused {
						went.Add(1)
					}
				})
			}
			all.Wait()
			return int(went.Load())
		}
		for _, c := range []struct {
			calls int
			after time.Duration
			want  int
		}{
			{3000, 0, 3000},
			{3000, 20 * time.Second, 3000},
			{10, 40 * time.Second, 2},
			{100, 59 * time.Second, 0},
			{6100, 60 * time.Second, limit},
		} {
			if got := take(c.calls, now.Add(c.after)); got != c.want {
				t.Errorf("after %v: %d of %d calls went on, want %d", c.after, got, c.calls, c.want)
			}
		}
	})
}

// TestRateOfBusyKey makes as many calls a second with one key as a large account may, at regular
// intervals. No partition may take more than 500 write units in a second, refused writes included.
func TestRateOfBusyKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := simulated.New(simulated.Limits{Call: 8 * time.Millisecond, PartitionWrites: 1000})
		s := callers.Rates{Table: table.On(busy, "t")}
		const seconds, rate = 3, 4000
		var all sync.WaitGroup
		for range seconds * rate {
			all.Go(func() {
				if a, err := s.Take(t.Context(), "read/k", 30_000, time.Now()); a.Refused || err != nil {
					t.Errorf("got %+v (%v)", a, err)
				}
			})
			time.Sleep(time.Second / rate)
		}
		all.Wait()
		if p := busy.Partitions()[0]; p.Writes < rate/10 || p.Writes > 500 {
			t.Errorf("%s took %v write units in a second, want 400 to 500", p.Name, p.Writes)
		}
	})
}
