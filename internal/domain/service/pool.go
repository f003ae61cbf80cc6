package service

import (
	"context"
	"errors"
	"math"
	"time"

	"lipsync/internal/domain/failure"
)

const (
	// StartTime is about the time that a worker of the Pool takes to start. An instance boots and
	// fetches the image in two to five minutes. On a running instance it takes less.
	StartTime = 3 * time.Minute
	// scalingLockTime is the time for which a process holds the scaling lock. It is longer than the
	// time until Count includes workers that were just started.
	scalingLockTime = 5 * time.Second
	// mayWait is the time that requests may wait for running workers. An idle worker asks for a
	// request about that often. No worker starts for requests that running workers take within that
	// time: such a worker would be ready minutes later, find nothing to do, and cost money.
	mayWait = 5 * time.Second
	// isLate is the wait of the oldest request from which Sweep no longer relies on running
	// workers: their requests may take longer than earlier ones.
	isLate = time.Minute
	// firstMean is the assumed time of a request before the first one is done. If Sweep finds a
	// request that has waited for longer than isLate, StartTime replaces it, so each request gets a
	// worker.
	firstMean = time.Minute
	// scalePatience is the time that a process waits for the scaling lock. After that it leaves the
	// waiting requests to other processes and to the next Sweep: a call of the dispatch function, or
	// a Sweep, must not fail because it waits.
	scalePatience = 3 * scalingLockTime
)

// IdleTime returns how long a worker of the Pool stays idle before it ends, while others are busy. It is the time of a start, divided by the mean
// number of busy workers. So a single worker does not end just before the next request comes, which would have to wait for a start; and of many
// workers only few are idle.
func IdleTime(busy float64) time.Duration {
	return time.Duration(float64(StartTime) / max(busy, 1))
}

// Scale starts as many workers of the Pool as the waiting requests need. Call it when a request
// begins to wait. Workers that are starting count fully. Running workers are busy, so they count
// only for the work that they do within mayWait.
func (s *Service) Scale(ctx context.Context) error { return s.scale(ctx, scalePatience, false) }

// scale does the work of Scale. While another process holds the scaling lock, scale waits, but not
// longer than patience. If late is set, a request has waited too long, and running workers do
// not count.
func (s *Service) scale(ctx context.Context, patience time.Duration, late bool) error {
	for end := time.Now().Add(patience); ; {
		err := s.scaleOnce(ctx, late)
		e, ok := errors.AsType[*failure.Error](err)
		switch {
		case !ok || e.Code != failure.Conflict:
			return err
		case time.Until(end) < e.RetryAfter:
			s.Log.InfoContext(ctx, "another process starts workers")
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(e.RetryAfter):
		}
	}
}

// scaleOnce does the work of scale once. It returns Conflict while another process holds the
// scaling lock.
func (s *Service) scaleOnce(ctx context.Context, late bool) error {
	ctx, cancel := context.WithTimeout(ctx, scalingLockTime)
	defer cancel()
	now := s.Now()
	mean, err := s.Demand.LockScaling(ctx, now, now.Add(scalingLockTime))
	if err != nil {
		return err
	}
	waiting, running, err := s.Pool.Count(ctx)
	if err != nil {
		return err
	}
	counted, expected := running, mean
	if late {
		counted = 0
	}
	if mean <= 0 {
		if expected = firstMean; late {
			expected = StartTime
		}
	}
	c := newCapacity(waiting, counted, expected)
	free := max(0, s.Workers-waiting-running)
	requests, err := s.Demand.Waiting(ctx, now, c.requestsOf(free))
	if err != nil {
		return err
	}
	n := min(c.lacks(requests), free)
	if n == 0 {
		return nil
	}
	s.Log.InfoContext(ctx, "start workers", "n", n, "waiting", waiting, "running", running, "requests", requests, "mean", mean)
	return s.Pool.Start(ctx, n)
}

// capacity tells how much time the Pool's workers have for waiting requests, in seconds.
type capacity struct {
	mean float64 // mean time that a worker needs for a request
	// part is the time that a new worker spends on requests that wait now: as long as its start
	// took, or one request. A start therefore at most doubles the cost of a burst, and the burst is
	// done about that time after the start.
	part float64
	has  float64 // total time of all workers; a running worker has mayWait
}

// newCapacity returns the capacity of the workers that are starting (waiting) and running.
func newCapacity(waiting, running int, mean time.Duration) capacity {
	c := capacity{mean: mean.Seconds(), part: max(mean, StartTime).Seconds()}
	c.has = float64(waiting)*c.part + float64(running)*mayWait.Seconds()
	return c
}

// lacks returns the number of workers to start for the waiting requests.
func (c capacity) lacks(requests int) int {
	return max(0, int(math.Ceil((float64(requests)*c.mean-c.has)/c.part)))
}

// requestsOf returns the number of requests that keep these workers and free more busy.
func (c capacity) requestsOf(free int) int {
	return int(math.Ceil((c.has + float64(free)*c.part) / c.mean))
}

// Worked records that a worker of the Pool held a request for the time took. It returns the sum of
// these times of all workers since the store was made, or 0 if there is no Pool.
func (s *Service) Worked(ctx context.Context, took time.Duration) (all time.Duration, err error) {
	if !s.Pooled {
		return 0, nil
	}
	return s.Demand.Worked(ctx, took)
}
