package lipsync

import (
	"context"
	"errors"
	"math"
	"time"
)

const (
	// StartTime is about how long a worker of the Pool takes to start: an instance boots in
	// two to five minutes, and fetches the image; where one stands ready it is less.
	StartTime = 3 * time.Minute
	// scaleTurn is how long one process has to count workers and to start more. It is longer
	// than it takes until those that were started are counted.
	scaleTurn = 5 * time.Second
	// mayWait is how long requests may wait for workers that run. An idle worker looks for a request
	// about as often. No worker starts for what those that run take within that time: how much comes in
	// a moment is chance. A worker that starts for it comes minutes later, finds nothing left, and is
	// paid for all the same.
	mayWait = 5 * time.Second
	// isLate is the wait of the oldest request after which the Sweep no longer counts on workers that
	// run: their requests may last longer than those before.
	isLate = time.Minute
	// firstMean is how long a request is taken to last until one is done. If the Sweep finds one that
	// waits for longer than isLate, it is StartTime: one worker for each request.
	firstMean = time.Minute
	// scalePatience is for how long a process waits for its turn. Then it leaves what waits to
	// those who have turns, and to the next Sweep: a call of the dispatch function, or a Sweep, must not
	// fail by waiting.
	scalePatience = 3 * scaleTurn
)

// Scale starts as many workers of the Pool as the requests that wait need. It is to run when a
// request begins to wait. It counts on workers that start. Those that run are busy with other
// requests, or with what comes next: so they count for what they take within mayWait.
func (s *Service) Scale(ctx context.Context) error { return s.scale(ctx, scalePatience, false) }

// scale is Scale. While another process starts workers it waits for its turn, no longer than
// patience. It doesn't count on workers that run if they are late: something waits for longer
// than they should need.
func (s *Service) scale(ctx context.Context, patience time.Duration, late bool) error {
	for end := time.Now().Add(patience); ; {
		err := s.scaleOnce(ctx, late)
		e, ok := errors.AsType[*Error](err)
		switch {
		case !ok || e.Code != Conflict:
			return err
		case time.Until(end) < e.RetryAfter:
			s.log().InfoContext(ctx, "no turn to start workers")
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(e.RetryAfter):
		}
	}
}

// scaleOnce is scale, or a Conflict while another process has the turn.
func (s *Service) scaleOnce(ctx context.Context, late bool) error {
	ctx, cancel := context.WithTimeout(ctx, scaleTurn)
	defer cancel()
	now := s.Now()
	mean, err := s.Demand.TakeTurn(ctx, now, now.Add(scaleTurn))
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
	c := newCrew(waiting, counted, expected)
	free := max(0, s.MaxWorkers-waiting-running)
	requests, err := s.Demand.Waiting(ctx, now, c.requestsOf(free))
	if err != nil {
		return err
	}
	n := min(c.lacks(requests), free)
	if n == 0 {
		return nil
	}
	s.log().InfoContext(ctx, "start workers", "n", n, "waiting", waiting, "running", running, "requests", requests, "mean", mean)
	return s.Pool.Start(ctx, n)
}

// crew is the workers of the Pool, and the time that they have for what waits, in seconds.
type crew struct {
	mean float64 // for which a worker has a request
	// part is for how long one that starts goes on with requests that wait now: for as long as
	// its start took, or for one request. So a start at most doubles the cost of work that a
	// burst brings, and the burst is done in twice the time of a start.
	part float64
	has  float64 // for which all go on, those that run for mayWait each
}

// newCrew returns the crew of workers that start, and of those that run.
func newCrew(waiting, running int, mean time.Duration) crew {
	c := crew{mean: mean.Seconds(), part: max(mean, StartTime).Seconds()}
	c.has = float64(waiting)*c.part + float64(running)*mayWait.Seconds()
	return c
}

// lacks returns how many workers to start for the requests that wait.
func (c crew) lacks(requests int) int {
	return max(0, int(math.Ceil((float64(requests)*c.mean-c.has)/c.part)))
}

// requestsOf returns how many requests are enough for the crew and as many more workers as
// are free.
func (c crew) requestsOf(free int) int {
	return int(math.Ceil((c.has + float64(free)*c.part) / c.mean))
}

// Worked notes that a worker of the Pool had a request for so long. It returns the sum of these
// times of all workers, ever; 0 in a home without a Pool.
func (s *Service) Worked(ctx context.Context, took time.Duration) (all time.Duration, err error) {
	if s.Demand == nil {
		return 0, nil
	}
	return s.Demand.Worked(ctx, took)
}
