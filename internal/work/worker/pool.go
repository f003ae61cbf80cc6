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

// Stay does requests one after the other, or as many at once as its duty says. If none waits at first, it ends at once. If none waits
// later, it stays idle for a short time and then ends. Once begin has ended, it begins no other
// request; begin must end when ctx does. A worker that does only small requests doesn't stay idle, since it starts in seconds.
//
// It returns the error that kept a request from being done. It also ends if the disk fails, or if
// the store answers no claim: this machine may be at fault, so other machines should try. If the
// store is busy, or has answered before, Stay first tries again for the time of a Lease.
func (w *Worker) Stay(ctx, begin context.Context) (err error) {
	most, busy, done := w.Work.Duty.AtOnce(), 0, make(chan outcome, w.Work.Duty.AtOnce())
	defer func() {
		for range busy {
			o := <-done
			w.note(ctx, new(idling), o)
			err = errors.Join(err, o.err)
		}
	}()
	var s idling
	var asked bool        // the store has answered a claim
	claimed := time.Now() // time of the last answer
	for begin.Err() == nil {
		var o outcome
		switch {
		case busy == most || len(done) > 0:
			o, busy = <-done, busy-1
		case w.failing.Load() != nil: // as one of its requests found, which may not have ended yet
		default:
			if o = w.next(ctx, done); o.begun {
				asked, claimed, busy = true, time.Now(), busy+1
				continue
			}
		}
		w.note(ctx, &s, o)
		if o.found || o.err == nil {
			asked, claimed = true, time.Now()
		}
		left := time.Until(s.end)
		if busy > 0 {
			left = idlePoll
		}
		switch {
		case w.failing.Load() != nil:
			return errors.Join(o.err, errDisk)
		case o.err != nil && !o.found && (asked || failure.CodeOf(o.err) == failure.RateLimited) && time.Since(claimed) < lipsync.Lease:
			pause(begin, Poll) // the store is busy, or may answer again
		case o.err != nil:
			return o.err
		case o.found:
		case left <= 0:
			return nil
		default:
			pause(begin, min(left, idlePoll))
		}
	}
	return nil
}

// outcome is that of a claim, and of the request that it got.
type outcome struct {
	begun    bool // there was a request, whose outcome follows
	class    lipsync.Class
	took     time.Duration
	enlarged bool // so that the time says nothing of how long small requests take
	found    bool // as of Do
	err      error
}

// next begins the next request, and sends its outcome to done.
func (w *Worker) next(ctx context.Context, done chan<- outcome) (o outcome) {
	started := time.Now()
	end := func(c lipsync.Class, found bool, err error) outcome {
		if err == ErrEnlarged {
			return outcome{found: true, enlarged: true}
		}
		return outcome{class: c, took: time.Since(started), found: found, err: err}
	}
	if w.Apart != nil {
		found, err := w.Apart(ctx)
		return end(lipsync.Small, found, err)
	}
	r, found, err := w.claim(ctx, "")
	if !found {
		return outcome{err: err}
	}
	go func() {
		found, err := w.finish(ctx, r, nil)
		done <- end(r.Class, found, err)
	}()
	return outcome{begun: true}
}

// idling has the end of a worker's idle time, and the working time of all workers, from which that
// end is computed.
type idling struct {
	end  time.Time     // when the worker ends, if no request comes
	all  time.Duration // total time for which all workers had requests
	seen time.Time     // time at which all was read
	over time.Duration // times of own requests before seen, of those that ended since
	busy float64       // mean number of requests that all workers had at once; 0 if it isn't known
}

// note adds the time for which the worker had a request to that of all workers, and computes the
// end of its idle time.
func (w *Worker) note(ctx context.Context, s *idling, o outcome) {
	if !o.found || o.enlarged {
		return
	}
	report, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTime)
	defer cancel()
	all, err := w.Work.Worked(report, lipsync.Stint{Class: o.class, Took: o.took, Duty: w.Work.Duty})
	if err != nil { // only a statistic is lost
		w.Log.Warn("note the time of a request", "error", err)
	}
	if w.Work.Duty == lipsync.DoesSmall {
		return
	}
	now := time.Now()
	switch passed := now.Sub(s.seen); {
	case err != nil:
	case passed < o.took:
		s.over += o.took - passed
	case passed > 0:
		if !s.seen.IsZero() {
			s.busy = (all - s.all - s.over).Seconds() / passed.Seconds()
		}
		s.all, s.seen, s.over = all, now, 0
	}
	s.end = now.Add(service.IdleTime(s.busy / float64(w.Work.Duty.AtOnce())))
}
