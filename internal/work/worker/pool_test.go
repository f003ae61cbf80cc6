package worker_test

import (
	"context"
	"errors"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
	"lipsync/internal/render"
)

// demand records the working times that workers report. Its answers stand for a number of busy
// workers.
type demand struct {
	busy  float64
	since time.Time
	took  []lipsync.Stint
}

func (d *demand) Worked(_ context.Context, s lipsync.Stint) (time.Duration, error) {
	d.took = append(d.took, s)
	return time.Duration(d.busy * float64(time.Since(d.since))), nil
}

func (d *demand) Waiting(context.Context, time.Time, time.Time, int) (all, old lipsync.Waiting, err error) {
	return nil, nil, nil
}

func (d *demand) Steady(context.Context, int) (int, error) { return 0, nil }

func (d *demand) LockSmall(context.Context, time.Time, time.Time) (m lipsync.Means, err error) {
	return m, nil
}

func (d *demand) LockScaling(context.Context, time.Time, time.Time) (m lipsync.Means, err error) {
	return m, nil
}

// stay calls f with a worker of a pool whose requests take 30 s each.
func stay(t *testing.T, busy float64, f func(t *testing.T, f *fixture, d *demand)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &demand{busy: busy, since: time.Now()}
		fixture := setup(t, func(ctx context.Context, j render.Job) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(30 * time.Second):
				return concatenate(ctx, j)
			}
		})
		fixture.Service.Demand, fixture.Service.Pooled = d, true
		f(t, fixture, d)
	})
}

func TestStay(t *testing.T) {
	for name, c := range map[string]struct {
		busy     float64
		requests int
		least    time.Duration
	}{
		"nothing waits":          {1, 0, 0},
		"one":                    {1, 1, 210 * time.Second},
		"three":                  {1, 3, 270 * time.Second},
		"three, by ten workers":  {10, 3, 108 * time.Second},
		"three, by many workers": {1000, 3, 90 * time.Second},
	} {
		stay(t, c.busy, func(t *testing.T, f *fixture, d *demand) {
			for range c.requests {
				f.request(t, "v", "a")
			}
			started := time.Now()
			if err := f.Stay(t.Context(), t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := time.Since(started); got < c.least || got > c.least+2*time.Second {
				t.Errorf("%s: it stayed for %s, want %s", name, got, c.least)
			}
			if len(d.took) != c.requests {
				t.Errorf("%s: got %d requests noted, want %d", name, len(d.took), c.requests)
			}
			for _, s := range d.took {
				if s.Took < 30*time.Second || s.Took > 31*time.Second || s.Duty != lipsync.DoesAll {
					t.Errorf("%s: got %+v noted, want 30 s of a worker of all requests", name, s)
				}
			}
		})
	}
}

// TestStayByClass has a worker do a small request and a neural one. Their times are noted by class.
func TestStayByClass(t *testing.T) {
	stay(t, 1, func(t *testing.T, f *fixture, d *demand) {
		f.request(t, "v", "a")
		f.Service.Engines = []string{"warp", "wav2lip"}
		p := requests.Params{Video: requests.Source{URL: "http://web/v"}, Audios: []requests.Track{{Source: requests.Source{URL: "http://web/a"}}}, ID: f.Service.NewRequestID()}
		p.Engine = "wav2lip"
		if _, err := f.Service.Generate(t.Context(), f.caller, p); err != nil {
			t.Fatal(err)
		}
		if err := f.Stay(t.Context(), t.Context()); err != nil || len(d.took) != 2 || d.took[0].Class != lipsync.Small || d.took[1].Class != lipsync.Neural {
			t.Errorf("got %+v noted (%v), want a small and a neural one", d.took, err)
		}
	})
}

// TestStayAtOnce has a worker of neural requests do six of 30 s: four at once, and then two. It stays while any of them is done, and then as long as others.
func TestStayAtOnce(t *testing.T) {
	stay(t, 4, func(t *testing.T, f *fixture, d *demand) {
		f.Service.Engines, f.Service.Duty = []string{"wav2lip"}, lipsync.DoesNeural
		var ids []string
		for range 6 {
			ids = append(ids, f.request(t, "v", "a"))
		}
		started := time.Now()
		working := func(after time.Duration, want int) {
			time.AfterFunc(after, func() {
				n := 0
				for _, id := range ids {
					if r, err := f.Service.Store.Requests.ByID(t.Context(), id); err == nil && r.Status == lipsync.Processing {
						n++
					}
				}
				if n != want {
					t.Errorf("after %s it does %d, want %d", after, n, want)
				}
			})
		}
		working(20*time.Second, 4)
		working(45*time.Second, 2)
		if err := f.Stay(t.Context(), t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(started); took < 4*time.Minute || took > 4*time.Minute+10*time.Second { // with one of four workers busy on average
			t.Errorf("it stayed for %s, want 4 m", took)
		}
		for _, id := range ids {
			f.want(t, id, lipsync.Completed, "", 1)
		}
		if len(d.took) != 6 {
			t.Errorf("got %d requests noted, want 6", len(d.took))
		}
	})
}

// summing is a demand that answers with the sum of all times.
type summing struct {
	demand
	all time.Duration
}

func (d *summing) Worked(_ context.Context, s lipsync.Stint) (time.Duration, error) {
	d.all += s.Took
	return d.all, nil
}

// TestStayAfterLong has a worker of several at once do a request of 20 minutes beside short ones. It stays as a lone worker does: the long one, which began
// before the last look, counts only since then.
func TestStayAfterLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := atomic.Int64{}
		f := setup(t, func(ctx context.Context, j render.Job) error {
			took := 30 * time.Second
			if calls.Add(1) == 1 {
				took = 20 * time.Minute
			}
			time.Sleep(took)
			return concatenate(ctx, j)
		})
		f.Service.Demand, f.Service.Pooled = &summing{}, true
		f.Service.Engines, f.Service.Duty = []string{"wav2lip"}, lipsync.DoesNeural
		f.request(t, "v", "a")
		var last time.Time
		for _, after := range []time.Duration{18 * time.Minute, 20*time.Minute + 10*time.Second} {
			time.AfterFunc(after, func() { f.request(t, "v", "a"); last = time.Now().Add(30 * time.Second) })
		}
		if err := f.Stay(t.Context(), t.Context()); err != nil {
			t.Fatal(err)
		}
		if idle := time.Since(last); idle < 3*time.Minute || idle > 3*time.Minute+5*time.Second {
			t.Errorf("it stayed for %s after the last one, want 3 minutes", idle)
		}
	})
}

// TestStayHasRoom makes a request while a worker of several at once does its first one. It begins it meanwhile.
func TestStayHasRoom(t *testing.T) {
	stay(t, 1, func(t *testing.T, f *fixture, _ *demand) {
		f.Service.Engines, f.Service.Duty = []string{"wav2lip"}, lipsync.DoesNeural
		first, later := f.request(t, "v", "a"), ""
		time.AfterFunc(10*time.Second, func() { later = f.request(t, "v", "a") })
		time.AfterFunc(20*time.Second, func() {
			for _, id := range []string{first, later} {
				if r, err := f.Service.Store.Requests.ByID(t.Context(), id); err != nil || r.Status != lipsync.Processing {
					t.Errorf("a request is %s (%v), want both processed", r.Status, err)
				}
			}
		})
		if err := f.Stay(t.Context(), t.Context()); err != nil {
			t.Fatal(err)
		}
		f.want(t, later, lipsync.Completed, "", 1)
	})
}

// TestStayAtOnceFails has one of the requests fail by a fault of the worker's. It begins no other one, and ends those that it has.
func TestStayAtOnceFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken, calls := errors.New("broken"), atomic.Int64{}
		f := setup(t, func(ctx context.Context, j render.Job) error {
			if calls.Add(1) == 1 {
				time.Sleep(time.Second)
				return broken
			}
			time.Sleep(10 * time.Second)
			return concatenate(ctx, j)
		})
		f.Service.Engines, f.Service.Duty = []string{"wav2lip"}, lipsync.DoesNeural
		for range 6 {
			f.request(t, "v", "a")
		}
		if err := f.Stay(t.Context(), t.Context()); !errors.Is(err, broken) {
			t.Errorf("got %v, want %v", err, broken)
		}
		if n := calls.Load(); n != 4 {
			t.Errorf("it began %d, want 4", n)
		}
	})
}

// TestStayDiskFails has one of two requests find that the disk fails. While it can't report that, the worker claims none of those that come.
func TestStayDiskFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := atomic.Int64{}
		f := setup(t, func(ctx context.Context, j render.Job) error {
			if calls.Add(1) == 1 {
				time.Sleep(time.Second)
				return syscall.ENOSPC
			}
			time.Sleep(20 * time.Second)
			return concatenate(ctx, j)
		})
		f.Service.Engines, f.Service.Duty = []string{"wav2lip"}, lipsync.DoesNeural
		f.request(t, "v", "a")
		f.request(t, "v", "a")
		f.Service.Store.Leases = &broken{f.Service.Store.Leases, time.Now().Add(10 * time.Second), syscall.EIO}
		var later string
		time.AfterFunc(1500*time.Millisecond, func() { later = f.request(t, "v", "a") }) // before it asks for another one
		if err := f.Stay(t.Context(), t.Context()); err == nil {
			t.Error("it ends without an error, want that the disk fails")
		}
		f.want(t, later, lipsync.Queued, "", 0)
	})
}

// TestStayIdle makes a request while the worker is idle.
func TestStayIdle(t *testing.T) {
	stay(t, 1, func(t *testing.T, f *fixture, _ *demand) {
		f.request(t, "v", "a")
		var late string
		time.AfterFunc(200*time.Second, func() { late = f.request(t, "v", "a") })
		if err := f.Stay(t.Context(), t.Context()); err != nil {
			t.Fatal(err)
		}
		f.want(t, late, lipsync.Completed, "", 1)
	})
}

// TestStayNoOther tells the worker not to begin another request, and later to stop.
func TestStayNoOther(t *testing.T) {
	for name, c := range map[string]struct {
		stop     time.Duration // after the start
		status   lipsync.Status
		attempts int
	}{
		"in time": {100 * time.Second, lipsync.Completed, 1},
		"not":     {20 * time.Second, lipsync.Processing, 0},
	} {
		stay(t, 1, func(t *testing.T, f *fixture, _ *demand) {
			own := f.request(t, "v", "a")
			time.Sleep(time.Second)
			other := f.request(t, "v", "a")
			ctx, cancel := context.WithTimeout(t.Context(), c.stop)
			defer cancel()
			begin, none := context.WithTimeout(ctx, 10*time.Second)
			defer none()
			started := time.Now()
			if err := f.Stay(ctx, begin); err != nil {
				t.Fatal(err)
			}
			if got := time.Since(started); got > 40*time.Second {
				t.Errorf("%s: it stayed for %s", name, got)
			}
			f.want(t, own, c.status, "", c.attempts)
			f.want(t, other, lipsync.Queued, "", 0)
		})
	}
}

// TestStayFails leaves waiting requests to other workers after an internal error.
func TestStayFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		f := setup(t, func(context.Context, render.Job) error { return broken })
		f.request(t, "v", "a")
		time.Sleep(time.Second)
		other := f.request(t, "v", "a")
		if err := f.Stay(t.Context(), t.Context()); !errors.Is(err, broken) {
			t.Errorf("got %v, want %v", err, broken)
		}
		f.want(t, other, lipsync.Queued, "", 0)
	})
}

// refusing is a store whose claims fail if their number, from 0, is at least from and less than to.
type refusing struct {
	lipsync.Leases
	from, to, claims int
	err              error
}

func (s *refusing) Claim(ctx context.Context, id, token string, now time.Time, lease time.Duration, from lipsync.Choice) (lipsync.Request, error) {
	s.claims++
	if n := s.claims - 1; n >= s.from && n < s.to {
		return lipsync.Request{}, s.err
	}
	return s.Leases.Claim(ctx, id, token, now, lease, from)
}

// TestStayThroughFaults checks that a worker goes on while claims fail, if the store is busy or has
// answered before.
func TestStayThroughFaults(t *testing.T) {
	broken, busy := errors.New("broken"), &failure.Error{Code: failure.RateLimited}
	for name, c := range map[string]struct {
		from, to int
		err      error
		failed   bool
	}{
		"busy at first":             {0, 2, busy, false},
		"broken at first":           {0, 2, broken, true},
		"broken after it answered":  {1, 3, broken, false},
		"broken since it answered":  {1, 1000, broken, true},
		"busy for longer than that": {0, 1000, busy, true},
	} {
		stay(t, 1, func(t *testing.T, f *fixture, _ *demand) {
			f.Service.Store.Leases = &refusing{Leases: f.Service.Store.Leases, from: c.from, to: c.to, err: c.err}
			f.request(t, "v", "a")
			started := time.Now()
			if err := f.Stay(t.Context(), t.Context()); (err != nil) != c.failed {
				t.Errorf("%s: got %v, want an error: %t", name, err, c.failed)
			}
			if took := time.Since(started); took > 5*time.Minute {
				t.Errorf("%s: it stayed for %s", name, took)
			}
		})
	}
}
