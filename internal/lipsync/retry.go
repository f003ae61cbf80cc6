package lipsync

import (
	"context"
	"errors"
	"time"
)

// Pauses between attempts.
const (
	// firstPause comes after the first attempt that a fault of ours ended; the
	// next one is twice as long.
	firstPause = 30 * time.Second
	// shortestPause and longestPause bound the pauses after transient faults: each is
	// about as long as all of the time since the first of these faults.
	shortestPause = 5 * time.Second
	longestPause  = 10 * time.Minute
	// longestHostPause is longestPause for faults of the machine: each try on a full disk
	// fetches the media again.
	longestHostPause = time.Hour
	// longestRetryAfter bounds what another's server may ask for.
	longestRetryAfter = time.Hour
)

// For how long a request is tried again after transient faults in a row.
const (
	// missingPatience is for a host that is missing: it may be one that starts again, or a
	// name that a resolver lost for a moment.
	missingPatience = time.Minute
	// serverPatience is for the network and others' servers: long enough for an outage of a
	// provider, short enough for a client to learn of it the same day.
	serverPatience = 6 * time.Hour
	// hostPatience is for faults of the machine: longer than a weekend in which nobody looks
	// after it, and shorter than the 7 days for which inputs of forms are kept on AWS.
	hostPatience = 3 * 24 * time.Hour
	// fetchTime is for how long attempts at a request that faults of fetching end may hold
	// workers in all. A file that never comes in its 20 minutes then is tried three times.
	fetchTime = time.Hour
)

// Fault ends an attempt at a claimed request that err, which is no end of a
// context, brought to nothing after it held a worker for the time held. It makes the
// request failed if trying again doesn't help, or was done for long enough. Else it gives
// the request back, and again says when it's to be claimed next. Conflict if the request
// was lost.
//
// Faults of ours are tried MaxAttempts times. Transient ones take no attempt: they are
// tried for a time, which begins with the first one in a row.
func (s *Service) Fault(ctx context.Context, r Request, err error, held time.Duration) (f Failure, again time.Time, _ error) {
	f, now, later := FailureOf(err), s.Now(), r
	switch {
	case f.Code == MediaHostMissing || f.Code.Class() == Transient:
		lasts, patience := later.delay(f.Code, now, held)
		switch {
		case later.Fetching >= fetchTime:
			f.Code = MediaTooSlow
		case lasts < patience:
			again = now.Add(s.transientPause(f.Code, lasts, err))
		}
	case f.Code.Class() == OfOurs && !r.Spent():
		later.EndDelays()
		again = now.Add(s.jitter(firstPause << (r.Attempts - 1)))
	}
	if again.IsZero() {
		return f, again, s.Fail(ctx, r, f)
	}
	if err := s.Leases.Postpone(ctx, later, again); err != nil {
		return f, time.Time{}, err
	}
	s.watcher().PutOff(later, f)
	return f, again, nil
}

// delay notes that a fault of the code ended an attempt that took so long. It returns for
// how long such faults come in a row by now, and for how long they may.
//
// Each kind of fault counts from its own first one, and so is blamed for nothing that
// another did. It begins anew after a kind that is tried for longer, which ends in its
// turn: so kinds that alternate come to an end too.
func (r *Request) delay(code FailureCode, now time.Time, held time.Duration) (lasts, patience time.Duration) {
	r.Attempts, r.Delays = r.Attempts-1, r.Delays+1
	if code.ofFetch() {
		r.Fetching += held
	}
	var first *time.Time
	switch code {
	case MediaHostMissing:
		first, patience = &r.MissingSince, missingPatience
	case HostFailing:
		r.MissingSince, r.UnreachableSince = time.Time{}, time.Time{}
		first, patience = &r.FailingSince, hostPatience
	default:
		r.MissingSince = time.Time{}
		first, patience = &r.UnreachableSince, serverPatience
	}
	if first.IsZero() {
		*first = now
	}
	return now.Sub(*first), patience
}

// delayed reports whether the last attempt ended by a transient fault, or for a missing host.
func (r Request) delayed() bool {
	return !r.MissingSince.IsZero() || !r.UnreachableSince.IsZero() || !r.FailingSince.IsZero()
}

// transientPause is how long to wait after a fault, when the first one in a row was so
// long ago: at least as long as the other side asks for. (What a full disk asks for is for clients.)
func (s *Service) transientPause(code FailureCode, lasts time.Duration, err error) time.Duration {
	longest := longestPause
	if code == HostFailing {
		longest = longestHostPause
	}
	pause := s.jitter(min(max(lasts, shortestPause), longest))
	if e, ok := errors.AsType[*Error](err); ok && e.Code != NoSpace {
		pause = max(pause, min(e.RetryAfter, longestRetryAfter))
	}
	return pause
}

// jitter returns any time from half of d to d, so that what failed together isn't
// tried again together.
func (s *Service) jitter(d time.Duration) time.Duration {
	var random [1]byte
	if _, err := s.Random.Read(random[:]); err != nil {
		return d
	}
	return d/2 + d/2*time.Duration(random[0])/255
}
