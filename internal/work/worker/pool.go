package worker

import (
	"context"
	"errors"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
)

// idlePoll is the time after which an idle worker of a pool asks for a request again: as long as a small worker takes to start.
const idlePoll = 2 * time.Second

// Stay does requests one after the other. If none waits at first, it ends at once. If none waits
// later, it stays idle for a short time and then ends. Once begin has ended, it begins no other
// request; begin must end when ctx does. A worker that does only small requests doesn't stay idle, since it starts in seconds.
//
// It returns the error that kept a request from being done. It also ends if the disk fails, or if
// the store answers no claim: this machine may be at fault, so other machines should try. If the
// store is busy, or has answered before, Stay first tries again for the time of a Lease.
func (w *Worker) Stay(ctx, begin context.Context) error {
	var s idling
	var asked bool        // the store has answered a claim
	claimed := time.Now() // time of the last answer
	for begin.Err() == nil {
		started := time.Now()
		class, found, err := w.next(ctx)
		if err == ErrEnlarged { // the time until then says nothing of how long small requests take
			err = nil
		} else if found {
			w.note(ctx, &s, class, time.Since(started))
		}
		if found || err == nil {
			asked, claimed = true, time.Now()
		}
		left := time.Until(s.end)
		switch {
		case w.failing.Load() != nil:
			return errors.Join(err, errDisk)
		case err != nil && !found && (asked || failure.CodeOf(err) == failure.RateLimited) && time.Since(claimed) < lipsync.Lease:
			pause(begin, Poll) // the store is busy, or may answer again
		case err != nil:
			return err
		case found:
		case left <= 0:
			return nil
		default:
			pause(begin, min(left, idlePoll))
		}
	}
	return nil
}

// next does the next request, and returns its class.
func (w *Worker) next(ctx context.Context) (c lipsync.Class, found bool, err error) {
	if w.Apart != nil {
		found, err = w.Apart(ctx)
		return lipsync.Small, found, err
	}
	return w.one(ctx, "")
}

// idling has the end of a worker's idle time, and the working time of all workers, from which that
// end is computed.
type idling struct {
	end  time.Time     // when the worker ends, if no request comes
	all  time.Duration // total time for which all workers had requests
	seen time.Time     // time at which all was read
}

// note adds the time for which the worker had a request of the class to that of all workers, and computes the
// end of its idle time.
func (w *Worker) note(ctx context.Context, s *idling, c lipsync.Class, took time.Duration) {
	report, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTime)
	defer cancel()
	all, err := w.Work.Worked(report, c, took)
	if err != nil { // only a statistic is lost
		w.Log.Warn("note the time of a request", "error", err)
	}
	if w.Work.OnlySmall {
		return
	}
	now, busy := time.Now(), 1.0
	if !s.seen.IsZero() {
		busy = (all - s.all).Seconds() / now.Sub(s.seen).Seconds()
	}
	*s = idling{end: now.Add(service.IdleTime(busy))}
	if err == nil {
		s.all, s.seen = all, now
	}
}
