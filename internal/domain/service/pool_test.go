package service_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
	"lipsync/internal/test/check"
	"lipsync/internal/test/lipsynctest"
)

// pool is a Pool that counts workers late, and a Demand.
type pool struct {
	lag time.Duration

	mu               sync.Mutex
	waiting, running int
	started          []int
	until            time.Time
	mean             time.Duration
	requests         int
}

func (p *pool) Count(context.Context) (waiting, running int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiting, p.running, nil
}

func (p *pool) Start(_ context.Context, n int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started = append(p.started, n)
	shown := func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.waiting += n
	}
	if p.lag == 0 {
		p.waiting += n
	} else {
		time.AfterFunc(p.lag, shown)
	}
	return nil
}

func (p *pool) Waiting(_ context.Context, _ time.Time, limit int) (int, error) {
	return min(p.requests, limit), nil
}

func (p *pool) LockScaling(_ context.Context, now, until time.Time) (time.Duration, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Before(p.until) {
		return 0, &failure.Error{Code: failure.Conflict, RetryAfter: p.until.Sub(now)}
	}
	p.until = until
	return p.mean, nil
}

func (p *pool) Worked(_ context.Context, took time.Duration) (time.Duration, error) {
	return took, nil
}

// scaled returns a service with the pool.
func scaled(t testing.TB, p interface {
	lipsync.Pool
	lipsync.Demand
}, most int) *service.Service {
	t.Helper()
	return lipsynctest.NewService(t, lipsync.Config{Pooled: true, Workers: most}, lipsync.Ports{
		Pool:   p,
		Demand: p,
	})
}

func TestScale(t *testing.T) {
	for _, c := range []struct {
		name                                string
		requests, waiting, running, most, n int
		mean                                time.Duration
	}{
		{"nothing waits", 0, 0, 0, 100, 0, 30 * time.Second},
		{"one", 1, 0, 0, 100, 1, 30 * time.Second},
		{"one, for which a worker starts", 1, 1, 0, 100, 0, 30 * time.Second},
		{"one, while a worker runs", 1, 0, 1, 100, 1, 30 * time.Second},
		{"1000 at once, six for each worker", 1000, 0, 0, 10_000, 167, 30 * time.Second},
		{"… of which some wait", 1000, 100, 0, 10_000, 67, 30 * time.Second},
		{"… and some run, which take 8 in 5 s", 1000, 100, 50, 10_000, 66, 30 * time.Second},
		{"… and enough start", 1000, 167, 67, 10_000, 0, 30 * time.Second},
		{"as many as there may be", 1000, 0, 0, 80, 80, 30 * time.Second},
		{"… of which most are there", 1_000_000, 50, 29, 80, 1, 30 * time.Second},
		{"more than there may be now", 1000, 50, 50, 80, 0, 30 * time.Second},
		{"nothing is known of their time", 1000, 0, 0, 10_000, 334, 0},
		{"those that run take them in 5 s", 10, 0, 60, 10_000, 0, 30 * time.Second},
		{"… and all but one", 11, 0, 60, 10_000, 1, 30 * time.Second},
		{"… and would, if their requests were short", 10, 0, 60, 10_000, 10, time.Hour},
		{"they take longer than a start", 1000, 0, 0, 10_000, 1000, time.Hour},
		{"… and some wait", 1000, 300, 0, 10_000, 700, time.Hour},
		{"… and others run", 1000, 300, 200, 10_000, 700, time.Hour},
		{"very short ones", 1000, 0, 0, 10_000, 6, time.Second},
	} {
		p := &pool{requests: c.requests, waiting: c.waiting, running: c.running, mean: c.mean}
		check.Must(t, scaled(t, p, c.most).Scale(t.Context()))
		got := 0
		for _, n := range p.started {
			got += n
		}
		check.Want(t, c.name, got, c.n)
	}
}

// TestScaleAtOnce has eight processes start workers at the same time, again and again. Started
// workers are counted only after some seconds.
func TestScaleAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pool{requests: 1000, mean: 30 * time.Second, lag: 4 * time.Second}
		for range 3 {
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() { check.Must(t, scaled(t, p, 10_000).Scale(t.Context())) })
			}
			all.Wait()
		}
		check.Want(t, "started", fmt.Sprint(p.started), "[167]")
	})
}

// TestScaleEnds checks that Scale ends with its context while another process has the right to
// start workers.
func TestScaleEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pool{until: time.Now().Add(10 * time.Second)}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		check.Want(t, "code", failure.CodeOf(scaled(t, p, 1).Scale(ctx)), failure.Conflict)
	})
}

// TestScaleLeaves checks that Scale neither waits for ever nor fails if other processes always have
// the right to start workers.
func TestScaleLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, began := &busy{pool{}}, time.Now()
		check.Must(t, scaled(t, p, 1).Scale(t.Context()))
		if took := time.Since(began); took < 5*time.Second || took > 15*time.Second {
			t.Errorf("waited for %s, want 5 s to 15 s", took)
		}
	})
}

// busy is a pool for which other processes always have the right to start workers.
type busy struct{ pool }

func (*busy) LockScaling(context.Context, time.Time, time.Time) (time.Duration, error) {
	return 0, &failure.Error{Code: failure.Conflict, RetryAfter: 5 * time.Second}
}

// TestSweepScalesLate checks that Sweep starts workers for requests that have waited too long for
// running workers.
func TestSweepScalesLate(t *testing.T) {
	for after, started := range map[time.Duration]string{59 * time.Second: "[]", 61 * time.Second: "[1]"} {
		f := newFixture(t)
		p := &pool{requests: 1, running: 100, mean: 30 * time.Second}
		f.Pool, f.Demand, f.Pooled, f.Workers = p, p, true, 200
		f.generate(t, "")
		f.clock.Advance(after)
		check.Must(t, f.Sweep(t.Context()))
		check.Want(t, "started by the sweep after "+after.String(), fmt.Sprint(p.started), started)
	}
}

// TestSweepScalesUnknown has 1000 waiting requests of unknown length on a new stack. Its first
// workers start for one minute each. The sweep that finds the requests late starts a worker for
// each.
func TestSweepScalesUnknown(t *testing.T) {
	f := newFixture(t)
	p := &pool{requests: 1000, waiting: 334}
	f.Pool, f.Demand, f.Pooled, f.Workers = p, p, true, 2000
	f.generate(t, "")
	f.clock.Advance(50 * time.Second)
	check.Must(t, f.Sweep(t.Context()))
	check.Want(t, "started in the first minute", fmt.Sprint(p.started), "[]")
	f.clock.Advance(11 * time.Second)
	check.Must(t, f.Sweep(t.Context()))
	check.Want(t, "started after it", fmt.Sprint(p.started), "[666]")
}

// TestSweepScales checks that Sweep starts workers for waiting requests although some run, and
// sends no messages.
func TestSweepScales(t *testing.T) {
	f := newFixture(t)
	p := &pool{requests: 1, running: 1, mean: 30 * time.Second}
	f.Pool, f.Demand, f.Pooled, f.Workers = p, p, true, 10
	f.generate(t, "")
	f.queue.sent = nil
	check.Must(t, f.Sweep(t.Context()))
	check.Want(t, "started by the sweep", fmt.Sprint(p.started), "[1]")
	check.Want(t, "sent", fmt.Sprint(f.queue.sent), "[]")
}
