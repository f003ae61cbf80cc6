package worker

import (
	"context"
	"errors"
	"time"

	"lipsync/internal/lipsync"
)

// Stay does requests one after the other. When none waits any more it stays idle for a short time,
// and then ends; if none waits at first, it ends at once. It begins no other once begin, which
// ends with ctx, has ended. An error is what kept a request from being done, and it ends, too,
// where the disk fails, or where the store answers no claim: this machine may be at fault, and others are to
// try. A store that is busy, or that answered before, has a Lease of time.
func (w *Worker) Stay(ctx, begin context.Context) error {
	var s shift
	var asked bool        // the store has answered a claim
	claimed := time.Now() // when it last did
	for begin.Err() == nil {
		started := time.Now()
		found, err := w.Do(ctx, "")
		if found {
			w.note(ctx, &s, time.Since(started))
		}
		if found || err == nil {
			asked, claimed = true, time.Now()
		}
		left := time.Until(s.end)
		switch {
		case w.failing.Load() != nil:
			return errors.Join(err, errDisk)
		case err != nil && !found && (asked || lipsync.CodeOf(err) == lipsync.RateLimited) && time.Since(claimed) < lipsync.Lease:
			pause(begin, Poll) // the store is busy, or will answer again
		case err != nil:
			return err
		case found:
		case left <= 0:
			return nil
		default:
			pause(begin, min(left, Poll))
		}
	}
	return nil
}

// shift is what a worker of a pool knows of all workers' work.
type shift struct {
	end  time.Time     // when it ends, if no request comes
	all  time.Duration // for which workers had requests, ever
	seen time.Time     // when it learned that
}

// note notes that the worker had a request for so long, and computes how long to wait for
// the next one: all workers that run are to be idle, together, for as long as a start takes.
// So one that is by itself does not leave just before the next request comes, which then
// would wait for a start; and of many few are idle.
func (w *Worker) note(ctx context.Context, s *shift, took time.Duration) {
	report, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTime)
	defer cancel()
	all, err := w.Service.Worked(report, took)
	if err != nil { // it costs nothing but a number in a mean
		w.Log.Warn("note the time of a request", "error", err)
	}
	now, busy := time.Now(), 1.0
	if !s.seen.IsZero() {
		busy = max(busy, (all-s.all).Seconds()/now.Sub(s.seen).Seconds())
	}
	*s = shift{end: now.Add(time.Duration(float64(lipsync.StartTime) / busy))}
	if err == nil {
		s.all, s.seen = all, now
	}
}
