package service_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/domain/base"
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
	mean             time.Duration // of small ones, and of those whose mean is 0
	meanLarge        time.Duration
	meanNeural       time.Duration
	requests         int       // all small
	made             time.Time // of them; zero if they are new
	newer            int       // small ones that came later
	large, neural    int
	least            int // that Steady returns
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

func (p *pool) Waiting(_ context.Context, _, by time.Time, limit int) (all, old lipsync.Waiting, err error) {
	if !p.made.IsZero() && !p.made.After(by) {
		old = lipsync.Waiting{lipsync.Small: min(p.requests, limit)}
	}
	return lipsync.Waiting{lipsync.Small: min(p.requests+p.newer, limit), lipsync.Large: min(p.large, limit), lipsync.Neural: min(p.neural, limit)}, old, nil
}

func (p *pool) Steady(_ context.Context, running int) (int, error) { return min(p.least, running), nil }

func (p *pool) LockScaling(_ context.Context, now, until time.Time) (lipsync.Means, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Before(p.until) {
		return lipsync.Means{}, &failure.Error{Code: failure.Conflict, RetryAfter: p.until.Sub(now)}
	}
	p.until = until
	return p.means(), nil
}

func (p *pool) means() lipsync.Means {
	return lipsync.Means{lipsync.Small: p.mean, lipsync.Large: cmp.Or(p.meanLarge, p.mean), lipsync.Neural: cmp.Or(p.meanNeural, p.mean)}
}

func (p *pool) LockSmall(context.Context, time.Time, time.Time) (lipsync.Means, error) {
	return p.means(), nil
}

func (p *pool) Worked(_ context.Context, s lipsync.Stint) (time.Duration, error) {
	return s.Took, nil
}

// scaled returns a service with the pool.
func scaled(t testing.TB, p interface {
	lipsync.Pool
	lipsync.Demand
}, most int) *service.Service {
	t.Helper()
	return lipsynctest.NewService(t, base.Config{Pooled: true, Workers: most}, base.Ports{
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
		check.Want(t, c.name, sum(p.started), c.n)
	}
}

// TestScaleBoth starts workers of both pools.
func TestScaleBoth(t *testing.T) {
	for _, c := range []struct {
		name                             string
		small, large                     int
		waiting, running                 int // runners
		waitingSmall, runningSmall, most int // small workers that start, run, and may be
		startRunners, startSmall         int
	}{
		{name: "nothing waits", most: 100},
		{name: "one small", small: 1, most: 100, startSmall: 1},
		{name: "… for which a small worker starts", small: 1, waitingSmall: 1, most: 100},
		{name: "… for which a runner starts that is not there soon", small: 1, waiting: 1, most: 100, startSmall: 1},
		{name: "… which one of 15 runners takes soon, but doesn't", small: 1, running: 15, most: 100, startSmall: 1},
		{name: "… which one of 15 small workers takes soon, but doesn't", small: 1, runningSmall: 15, most: 100, startSmall: 1},
		{name: "one large", large: 1, most: 100, startRunners: 1},
		{name: "… which no small worker does", large: 1, runningSmall: 60, most: 100, startRunners: 1},
		{name: "of both", small: 10, large: 7, most: 100, startRunners: 2, startSmall: 10},
		{name: "1000 small ones at once", small: 1000, most: 1000, startSmall: 1000},
		{name: "… which 100 small workers do in the time of a start, with 200 left", small: 1000, most: 100, startRunners: 67, startSmall: 100},
		{name: "… of which all run", small: 900, runningSmall: 100, most: 100, startRunners: 50},
		{name: "no small workers", small: 10, large: 2, startRunners: 2},
	} {
		p, small := &pool{requests: c.small, large: c.large, waiting: c.waiting, running: c.running, mean: 30 * time.Second}, &pool{waiting: c.waitingSmall, running: c.runningSmall}
		ports := base.Ports{Pool: p, Demand: p}
		if c.most > 0 {
			ports.SmallPool = small
		}
		synctest.Test(t, func(t *testing.T) {
			p.made = time.Now()
			s := lipsynctest.NewService(t, base.Config{Pooled: true, Workers: 1000, SmallWorkers: c.most}, ports)
			check.Must(t, s.Scale(t.Context()))
		})
		check.Want(t, c.name+": runners", sum(p.started), c.startRunners)
		check.Want(t, c.name+": small workers", sum(small.started), c.startSmall)
	}
}

// TestScaleByClass starts workers for small requests of 10 s and large ones of an hour. Neither class may be taken for the other.
func TestScaleByClass(t *testing.T) {
	for _, c := range []struct {
		name                     string
		small, large, running    int
		runningSmall, most       int
		startRunners, startSmall int
	}{
		{name: "small ones, which small workers do in the time of a start", small: 1000, runningSmall: 60, most: 60},
		{name: "… and not all", small: 1900, runningSmall: 100, most: 100, startRunners: 6},
		{name: "small ones, without small workers", small: 1000, startRunners: 56},
		{name: "large ones", large: 10, most: 100, startRunners: 10},
		{name: "of both, without small workers", small: 1000, large: 10, startRunners: 66},
		{name: "… while runners do a little", small: 1000, large: 10, running: 20, startRunners: 66},
		{name: "small ones, which ten runners take soon", small: 2, running: 10, most: 100, startSmall: 2},
	} {
		p, small := &pool{requests: c.small, large: c.large, running: c.running, mean: 10 * time.Second, meanLarge: time.Hour}, &pool{running: c.runningSmall}
		ports := base.Ports{Pool: p, Demand: p}
		if c.most > 0 {
			ports.SmallPool = small
		}
		synctest.Test(t, func(t *testing.T) {
			p.made = time.Now()
			s := lipsynctest.NewService(t, base.Config{Pooled: true, Workers: 1000, SmallWorkers: c.most}, ports)
			time.AfterFunc(time.Second, func() { check.Want(t, c.name+": small workers at once", sum(small.started), 0) })
			check.Must(t, s.Scale(t.Context()))
			time.Sleep(time.Second)
		})
		check.Want(t, c.name+": runners", sum(p.started), c.startRunners)
		check.Want(t, c.name+": small workers", sum(small.started), c.startSmall)
	}
}

// TestScaleNeural has requests whose engine needs a network, for which runners with a GPU start, and runners where there are none with a GPU.
// A runner with a GPU does four at once. Before any starts, one that runs may take the requests; no other start waits for that.
func TestScaleNeural(t *testing.T) {
	for _, c := range []struct {
		name                      string
		small, neural, most       int
		waiting, running          int // runners with a GPU
		runnersRunning, took      int // runners without, and requests that are taken within 5 s
		startRunners, startNeural int
	}{
		{name: "nothing waits", most: 10},
		{name: "one", neural: 1, most: 10, startNeural: 1},
		{name: "… for which one starts", neural: 1, most: 10, waiting: 1},
		{name: "… which runners without a GPU don't do", neural: 1, most: 10, runnersRunning: 100, startNeural: 1},
		{name: "… which one that runs takes", neural: 1, most: 10, running: 1, took: 1},
		{name: "… and doesn't take", neural: 1, most: 10, running: 1, startNeural: 1},
		{name: "… for which no runner of the others waits", small: 2, neural: 1, most: 10, running: 1, startRunners: 1, startNeural: 1},
		{name: "six minutes of work, in three", neural: 12, most: 10, startNeural: 2},
		{name: "as many as there may be", neural: 1000, most: 10, running: 3, startNeural: 7},
		{name: "both", small: 2, neural: 1, most: 10, startRunners: 1, startNeural: 1},
		{name: "no GPU", small: 6, neural: 3, startRunners: 3},
	} {
		p, neural := &pool{requests: c.small, neural: c.neural, running: c.runnersRunning, mean: 30 * time.Second, meanNeural: 2 * time.Minute}, &pool{waiting: c.waiting, running: c.running}
		ports := base.Ports{Pool: p, Demand: p}
		if c.most > 0 {
			ports.NeuralPool = neural
		}
		synctest.Test(t, func(t *testing.T) {
			s := lipsynctest.NewService(t, base.Config{Pooled: true, Workers: 1000, NeuralWorkers: c.most}, ports)
			time.AfterFunc(2*time.Second, func() {
				check.Want(t, c.name+": runners at once", sum(p.started), c.startRunners)
				check.Want(t, c.name+": runners with a GPU at once", sum(neural.started), map[bool]int{true: c.startNeural}[c.running == 0])
				p.neural -= c.took
			})
			check.Must(t, s.Scale(t.Context()))
			time.Sleep(2 * time.Second)
		})
		check.Want(t, c.name+": runners", sum(p.started), c.startRunners)
		check.Want(t, c.name+": runners with a GPU", sum(neural.started), c.startNeural)
	}
}

// lateCount is a Pool that takes long to count its workers, and a Demand that gives one process at a time the right to start small ones.
type lateCount struct {
	*pool
	until *time.Time // of that right
}

func (s lateCount) LockSmall(_ context.Context, now, until time.Time) (lipsync.Means, error) {
	if left := s.until.Sub(now); left > 0 {
		return nil, &failure.Error{Code: failure.Conflict, RetryAfter: left}
	}
	*s.until = until
	return s.means(), nil
}

func (s lateCount) Count(ctx context.Context) (waiting, running int, err error) {
	time.Sleep(1500 * time.Millisecond)
	return s.pool.Count(ctx)
}

// TestScaleSlowly has a process that counts for longer than it has the right to start small workers. It starts the one that is needed, unless another
// process has that right meanwhile and starts it.
func TestScaleSlowly(t *testing.T) {
	for _, alone := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			late, small := lateCount{&pool{requests: 1, mean: 30 * time.Second}, new(time.Time)}, &pool{}
			s := lipsynctest.NewService(t, base.Config{Pooled: true, Workers: 10, SmallWorkers: 10}, base.Ports{Pool: late, SmallPool: small, Demand: late})
			if !alone {
				time.AfterFunc(1100*time.Millisecond, func() {
					_, err := late.LockSmall(t.Context(), time.Now(), time.Now().Add(time.Second))
					check.Must(t, err)
					check.Must(t, small.Start(t.Context(), 1))
				})
			}
			check.Must(t, s.Scale(t.Context()))
			check.Want(t, fmt.Sprintf("small workers, alone %v", alone), sum(small.started), 1)
		})
	}
}

// unable is a Pool that starts none.
type unable struct{ pool }

var errStart = errors.New("no rights")

func (*unable) Start(context.Context, int) error { return errStart }

// TestScaleWithoutSmall starts runners for large requests although no small worker can be started for a small one. The error is told.
func TestScaleWithoutSmall(t *testing.T) {
	p := &pool{requests: 1, large: 1, mean: 30 * time.Second}
	s := lipsynctest.NewService(t, base.Config{Pooled: true, Workers: 10, SmallWorkers: 10}, base.Ports{Pool: p, SmallPool: &unable{}, Demand: p})
	if err := s.Scale(t.Context()); !errors.Is(err, errStart) {
		t.Errorf("got %v, want %v", err, errStart)
	}
	check.Want(t, "runners", sum(p.started), 1)
}

func sum(all []int) (n int) {
	for _, some := range all {
		n += some
	}
	return n
}

// TestScaleLeavesToRunners leaves small requests to running workers for two seconds, if these take as many, and starts small workers for others at once.
func TestScaleLeavesToRunners(t *testing.T) {
	for _, c := range []struct {
		name                  string
		small, large, running int
		atOnce, took, started int // small workers; requests that the workers took meanwhile
		came                  int // meanwhile, which have not waited for two seconds
	}{
		{name: "one, which one of 15 takes", small: 1, running: 15, took: 1},
		{name: "one, which none takes", small: 1, running: 15, started: 1},
		{name: "… and one that came meanwhile", small: 1, running: 15, came: 1, started: 1},
		{name: "one, which one takes, and one that came meanwhile", small: 1, running: 15, took: 1, came: 1},
		{name: "three, of which one of 15 takes one", small: 3, running: 15, atOnce: 2, took: 1, started: 2},
		{name: "one, and a large one", small: 1, large: 1, running: 15, atOnce: 1, started: 1},
		{name: "one, with a few workers", small: 1, running: 9, atOnce: 1, started: 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, small := &pool{requests: c.small, made: time.Now(), large: c.large, running: c.running, waiting: c.large, mean: 30 * time.Second}, &pool{}
			s := lipsynctest.NewService(t, base.Config{Pooled: true, Workers: 1000, SmallWorkers: 10}, base.Ports{Pool: p, SmallPool: small, Demand: p})
			time.AfterFunc(time.Second, func() {
				check.Want(t, c.name+": small workers at once", sum(small.started), c.atOnce)
				p.requests, p.newer = p.requests-c.took, c.came
			})
			check.Must(t, s.Scale(t.Context()))
			time.Sleep(time.Millisecond)
			check.Want(t, c.name+": small workers", sum(small.started), c.started)
			time.Sleep(time.Second)
		})
	}
}

// TestScaleBeforeShown makes a request that the store shows a second later. If there is a worker, that takes it.
func TestScaleBeforeShown(t *testing.T) {
	for _, c := range []struct{ runners, small, smallStarting, started int }{{started: 1}, {runners: 1}, {small: 1}, {smallStarting: 1}} {
		synctest.Test(t, func(t *testing.T) {
			p, small := &pool{made: time.Now(), running: c.runners, mean: 30 * time.Second}, &pool{running: c.small, waiting: c.smallStarting}
			s := lipsynctest.NewService(t, base.Config{Pooled: true, Workers: 10, SmallWorkers: 10}, base.Ports{Pool: p, SmallPool: small, Demand: p})
			time.AfterFunc(time.Second, func() { p.requests = 1 })
			check.Must(t, s.Scale(t.Context()))
			check.Want(t, fmt.Sprintf("small workers of %+v", c), sum(small.started), c.started)
			time.Sleep(time.Second)
		})
	}
}

// TestExpect expects a small request. A small worker starts for it, unless one is starting that has nothing else to do.
func TestExpect(t *testing.T) {
	for _, c := range []struct{ requests, waiting, running, most, started int }{
		{most: 10, started: 1}, {waiting: 1, most: 10}, {running: 1, most: 10, started: 1}, {running: 1, most: 1}, {requests: 2, waiting: 1, most: 10, started: 1}, {},
	} {
		p, small := &pool{requests: c.requests, mean: 30 * time.Second}, &pool{waiting: c.waiting, running: c.running}
		ports := base.Ports{Pool: p, Demand: p}
		if c.most > 0 {
			ports.SmallPool = small
		}
		s := lipsynctest.NewService(t, base.Config{Pooled: true, Workers: 10, SmallWorkers: c.most}, ports)
		check.Must(t, s.Expect(t.Context()))
		check.Want(t, fmt.Sprintf("small workers of %+v", c), sum(small.started), c.started)
		check.Want(t, "runners", sum(p.started), 0)
	}
}

// TestSweepScalesBoth has small workers that are busy for minutes, for which a sweep starts runners, and a small request that waits too long for a small
// worker, for which it starts a runner too.
func TestSweepScalesBoth(t *testing.T) {
	for _, c := range []struct {
		name                     string
		after                    time.Duration
		small, least, waiting    int
		startRunners, startSmall int
	}{
		{name: "small workers are busy for minutes", after: time.Second, least: 10, startRunners: 6},
		{name: "… and runners start", after: time.Second, least: 10, waiting: 5, startRunners: 1},
		{name: "a small request is late", after: 61 * time.Second, small: 1, startRunners: 1, startSmall: 1},
		{name: "… and not yet", after: 59 * time.Second, small: 3},
	} {
		f := newFixture(t)
		p, small := &pool{requests: c.small, waiting: c.waiting, least: c.least, mean: 30 * time.Second}, &pool{running: 60}
		f.Pool, f.SmallPool, f.Demand, f.Pooled, f.Workers, f.SmallWorkers = p, small, p, true, 100, 100
		f.generate(t, "")
		f.clock.Advance(c.after)
		check.Must(t, f.Sweep(t.Context()))
		check.Want(t, c.name+": runners", sum(p.started), c.startRunners)
		check.Want(t, c.name+": small workers", sum(small.started), c.startSmall)
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

func (*busy) LockScaling(context.Context, time.Time, time.Time) (lipsync.Means, error) {
	return lipsync.Means{}, &failure.Error{Code: failure.Conflict, RetryAfter: 5 * time.Second}
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
