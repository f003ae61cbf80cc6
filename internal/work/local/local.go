// Package local does the work of a service on one machine: workers, estimates, deliveries and sweeps, in
// one process.
package local

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/work/worker"
)

// Times between two sweeps, and between two calls of tidy.
const (
	sweepEvery = time.Minute
	tidyEvery  = time.Hour
)

// Scheduler says when work is done. It is the queue and the announcer of its service: it wakes those who
// ask the store for work.
type Scheduler struct {
	workers   int
	wake      chan struct{} // wakes an idle worker
	due       chan struct{} // wakes the loop that makes deliveries
	estimates *estimates
	log       *slog.Logger
}

// New returns a scheduler for a number of workers. The log gets errors of sweeps.
func New(workers int, log *slog.Logger) *Scheduler {
	return &Scheduler{
		workers: workers, wake: make(chan struct{}, workers), due: make(chan struct{}, 1), estimates: newEstimates(), log: log,
	}
}

var (
	_ lipsync.Hints     = (*Scheduler)(nil)
	_ lipsync.Announcer = (*Scheduler)(nil)
)

func (s *Scheduler) Send(_ context.Context, r lipsync.Request) error {
	wake(s.wake) // if it is full, enough wake-ups wait for all workers
	if r.IsEstimate() {
		s.estimates.add(r)
	}
	return nil
}

func (s *Scheduler) Announce(_ context.Context, _, _ string, pause time.Duration) error {
	if pause <= 0 { // otherwise the loop, which looks each second, is soon enough
		wake(s.due)
	}
	return nil
}

// wake sends a wake-up, unless enough of them wait.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run does the worker's requests, calls deliver with a channel that wakes it when a delivery waits, and calls sweep each minute and tidy each hour,
// until ctx ends. Then it gives unfinished requests back.
func (s *Scheduler) Run(ctx context.Context, w *worker.Worker, deliver func(ctx context.Context, due <-chan struct{}), sweep, tidy func(context.Context) error) {
	var all sync.WaitGroup
	all.Go(func() { w.Run(ctx, s.workers, s.wake) })
	for range EstimatesAtOnce {
		all.Go(func() { s.estimate(ctx, w) })
	}
	all.Go(func() { deliver(ctx, s.due) })
	all.Go(func() { s.every(ctx, sweepEvery, "sweep", sweep) })
	all.Go(func() { s.every(ctx, tidyEvery, "tidy", tidy) })
	all.Wait()
}

// estimate does estimates while all workers may be busy, one after the other, until ctx ends.
func (s *Scheduler) estimate(ctx context.Context, w *worker.Worker) {
	for ctx.Err() == nil {
		if r, ok := s.estimates.take(); ok {
			w.Estimate(ctx, r)
			s.estimates.done(r)
			continue
		}
		select {
		case <-ctx.Done():
		case <-s.estimates.wake:
		}
	}
}

// every calls f at once and then in steps, until ctx ends.
func (s *Scheduler) every(ctx context.Context, step time.Duration, name string, f func(context.Context) error) {
	ticker := time.NewTicker(step)
	defer ticker.Stop()
	for {
		if err := f(ctx); err != nil && ctx.Err() == nil {
			s.log.Error(name, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
