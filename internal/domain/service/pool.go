package service

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

const (
	// StartTime is about the time that a worker of the Pool takes to start. An instance boots and
	// fetches the image in two to five minutes. On a running instance it takes less.
	StartTime = 3 * time.Minute
	// smallStart is about the time that a worker of the SmallPool takes to start. Small requests may wait as long for running workers; then
	// they get small workers.
	smallStart = 2 * time.Second
	// scalingLockTime is the time for which a process holds the scaling lock. It is longer than the
	// time until Count includes workers that were just started.
	scalingLockTime = 5 * time.Second
	// smallLockTime is the time for which a process has the right to start workers of the SmallPool. Its Count includes them at once.
	smallLockTime = time.Second
	// mayWait is the time that requests may wait for running workers. An idle worker asks for a
	// request more often. No worker starts for requests that running workers take within that
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

// Scale starts as many workers of all pools as the waiting requests need. Call it when a request
// begins to wait. Workers that are starting count fully. Running workers are busy, so they count
// only for the work that they do within mayWait.
func (s *Service) Scale(ctx context.Context) error { return s.scale(ctx, scalePatience, round{}) }

// Expect starts a small worker for a small request that may come soon, unless one is starting or another process starts some. If it finds none, its
// environment stays for a while, and the request's worker starts in it at once.
func (s *Service) Expect(ctx context.Context) error {
	if s.SmallWorkers == 0 {
		return nil
	}
	return s.await(ctx, time.Now(), func() error {
		_, _, err := s.scaleSmall(ctx, 1)
		return err
	})
}

// round says on which occasion scale is called.
type round struct {
	sweep bool // by the Sweep, once a minute
	late  bool // a request has waited too long, so running workers do not count
	again bool // running runners with a GPU didn't take the requests that were left to them
}

// scale does the work of Scale. While another process holds a lock, scale waits, but not
// longer than patience. Dispatch waits for no lock of the Pool unless that needs workers.
func (s *Service) scale(ctx context.Context, patience time.Duration, r round) error {
	end := time.Now().Add(patience)
	var failed error
	if s.SmallWorkers > 0 && !r.sweep {
		var left, lacks bool
		scale := func() (err error) { left, lacks, err = s.scaleSmall(ctx, 0); return err }
		err := s.await(ctx, end, scale)
		if err == nil && left {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(smallStart):
			}
			err = s.await(ctx, end, scale)
		}
		if !lacks {
			return err
		}
		failed = err // runners start all the same
	}
	var left bool
	scale := func() (err error) { left, err = s.scaleOnce(ctx, r); return err }
	failed = errors.Join(failed, s.await(ctx, end, scale))
	if left { // this process has the scaling lock for a few seconds, in which running workers may take the requests
		r.again = true
		failed = errors.Join(failed, s.await(ctx, end, scale))
	}
	return failed
}

// await calls f until it returns no Conflict, or until the time end. Without a Pool, f can start no workers, and await returns an error.
func (s *Service) await(ctx context.Context, end time.Time, f func() error) error {
	if s.Pool == nil {
		return errors.New("the service has no Pool that could start workers")
	}
	for {
		err := f()
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

// scaleSmall starts workers of the SmallPool, for as many small requests as are expected at least. It reports whether it left small requests to running
// workers, or may not have seen some yet, and whether workers of the Pool are needed too. It returns Conflict while another process has the right to
// start them.
func (s *Service) scaleSmall(ctx context.Context, expected int) (left, lacks bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, scalingLockTime)
	defer cancel()
	now := s.Now()
	means, err := s.Demand.LockSmall(ctx, now, now.Add(smallLockTime))
	if err != nil {
		return false, false, err
	}
	n, err := s.need(ctx, now, means, firstMean)
	if err != nil {
		return false, false, err
	}
	n.requests[lipsync.Small] = max(n.requests[lipsync.Small], expected)
	all := n.starts()
	if later := s.Now(); all.small > 0 && later.Sub(now) > smallLockTime { // another process may start some now
		if _, err := s.Demand.LockSmall(ctx, later, later.Add(smallLockTime)); err != nil {
			return false, false, err
		}
	}
	left = all.small+n.small.waiting < n.requests[lipsync.Small] || n.unseen()
	return left, all.runners+all.neural > 0, s.start(ctx, lipsync.DoesSmall, s.SmallPool, all.small, n)
}

// scaleOnce starts workers of the Pool and the NeuralPool. In a sweep it also starts those of the SmallPool, unless another process does. While workers of
// the NeuralPool run, which may have room for further requests, it first leaves neural requests to them, and reports that. It returns Conflict while a
// process holds the scaling lock.
func (s *Service) scaleOnce(ctx context.Context, r round) (left bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, scalingLockTime)
	defer cancel()
	now := s.Now()
	means, err := s.Demand.LockScaling(ctx, now, now.Add(scalingLockTime))
	if err != nil {
		return false, err
	}
	first := firstMean
	if r.late {
		first = StartTime
	}
	free := false // to start workers of the SmallPool
	if s.SmallWorkers > 0 && r.sweep {
		_, err := s.Demand.LockSmall(ctx, now, now.Add(smallLockTime))
		free = err == nil
	}
	n, err := s.need(ctx, now, means, first)
	if err != nil {
		return false, err
	}
	if n.late = r.late; r.sweep && s.SmallWorkers > 0 {
		if n.steady, err = s.Demand.Steady(ctx, n.small.running); err != nil {
			return false, err
		}
	}
	all := n.starts()
	if !free {
		all.small = 0
	}
	if left = all.neural > 0 && n.neural.running > 0 && !r.again && !r.late; left {
		all.neural = 0
	}
	return left, errors.Join(s.start(ctx, lipsync.DoesSmall, s.SmallPool, all.small, n), s.start(ctx, lipsync.DoesPlain, s.Pool, all.runners, n),
		s.start(ctx, lipsync.DoesNeural, s.NeuralPool, all.neural, n))
}

// need counts workers and waiting requests, which take the mean time of their class each, or first if that isn't known.
func (s *Service) need(ctx context.Context, now time.Time, means lipsync.Means, first time.Duration) (n need, err error) {
	n = need{means: lipsync.Means{}, runners: staff{most: s.Workers}, small: staff{most: s.SmallWorkers}, neural: staff{most: s.NeuralWorkers}}
	for _, class := range lipsync.Classes() {
		n.means[class] = cmp.Or(means[class], first)
	}
	if s.NeuralWorkers > 0 {
		n.means[lipsync.Neural] /= time.Duration(lipsync.DoesNeural.AtOnce())
	}
	pools := []struct {
		lipsync.Pool
		*staff
	}{{s.Pool, &n.runners}, {s.SmallPool, &n.small}, {s.NeuralPool, &n.neural}}
	errs := make([]error, len(pools))
	var all sync.WaitGroup
	for i, of := range pools {
		if of.most > 0 {
			all.Go(func() { of.waiting, of.running, errs[i] = of.Count(ctx) })
		}
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return n, err
	}
	n.requests, n.old, err = s.Demand.Waiting(ctx, now, now.Add(-smallStart), n.most())
	return n, err
}

// start starts workers of a pool with the duty.
func (s *Service) start(ctx context.Context, d lipsync.Duty, p lipsync.Pool, workers int, n need) error {
	if workers == 0 {
		return nil
	}
	log := s.Log.With("duty", d, "n", workers)
	for _, class := range lipsync.Classes() {
		name := cmp.Or(string(class), "small")
		log = log.With(name, n.requests[class], "mean_"+name, n.means[class])
	}
	log.InfoContext(ctx, "start workers", "waiting", n.runners.waiting, "running", n.runners.running,
		"small_waiting", n.small.waiting, "small_running", n.small.running, "neural_waiting", n.neural.waiting, "neural_running", n.neural.running)
	return p.Start(ctx, workers)
}

// Worked records a Stint. Without a Pool it records nothing, and returns 0.
func (s *Service) Worked(ctx context.Context, of lipsync.Stint) (all time.Duration, err error) {
	if !s.Pooled {
		return 0, nil
	}
	return s.Demand.Worked(ctx, of)
}
