package worker

import (
	"context"
	"errors"
	"log/slog"
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
func (w *Worker) Stay(ctx, begin context.Context) error {
	return pool{w.c.Work, w.c.Log, func() bool { return w.failing.Load() != nil }, w.next}.stay(ctx, begin)
}

// StayApart does requests as Stay does, the next one by each call of do: that does what Do does, in a process of its own.
func StayApart(ctx, begin context.Context, work *service.Work, log *slog.Logger, do func(context.Context) (found bool, err error)) error {
	next := func(ctx context.Context, _ chan<- outcome) outcome {
		started := time.Now()
		found, err := do(ctx)
		return ended(started, lipsync.Small, found, err)
	}
	return pool{work, log, func() bool { return false }, next}.stay(ctx, begin)
}

// pool is what Stay and StayApart have of a worker.
type pool struct {
	work    *service.Work
	log     *slog.Logger
	failing func() bool                                            // whether the disk fails
	next    func(ctx context.Context, done chan<- outcome) outcome // does the next request, or begins it and sends its outcome to done
}

func (p pool) stay(ctx, begin context.Context) (err error) {
	most, busy, done := p.work.Duty.AtOnce(), 0, make(chan outcome, p.work.Duty.AtOnce())
	defer func() {
		for range busy {
			o := <-done
			p.note(ctx, new(idling), o)
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
		case p.failing(): // as one of its requests found, which may not have ended yet
		default:
			if o = p.next(ctx, done); o.begun {
				asked, claimed, busy = true, time.Now(), busy+1
				continue
			}
		}
		p.note(ctx, &s, o)
		if o.found || o.err == nil {
			asked, claimed = true, time.Now()
		}
		left := time.Until(s.end)
		if busy > 0 {
			left = idlePoll
		}
		switch {
		case p.failing():
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

// ended returns the outcome of a request that was begun at a time.
func ended(started time.Time, c lipsync.Class, found bool, err error) outcome {
	if err == ErrEnlarged {
		return outcome{found: true, enlarged: true}
	}
	return outcome{class: c, took: time.Since(started), found: found, err: err}
}

// next begins the next request, and sends its outcome to done.
func (w *Worker) next(ctx context.Context, done chan<- outcome) (o outcome) {
	started := time.Now()
	r, found, err := w.claim(ctx, "")
	if !found {
		return outcome{err: err}
	}
	go func() {
		found, err := w.finish(ctx, r, nil)
		done <- ended(started, r.Class, found, err)
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
func (p pool) note(ctx context.Context, s *idling, o outcome) {
	if !o.found || o.enlarged {
		return
	}
	report, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTime)
	defer cancel()
	all, err := p.work.Worked(report, lipsync.Stint{Class: o.class, Took: o.took, Duty: p.work.Duty})
	if err != nil { // only a statistic is lost
		p.log.Warn("note the time of a request", "error", err)
	}
	if p.work.Duty == lipsync.DoesSmall {
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
	s.end = now.Add(service.IdleTime(s.busy / float64(p.work.Duty.AtOnce())))
}
