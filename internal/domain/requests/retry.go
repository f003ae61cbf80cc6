package requests

import (
	"context"
	"errors"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// Pauses between attempts.
const (
	// firstPause is the pause after the first attempt that a fault of the service ended. The next
	// pause is twice as long.
	firstPause = 30 * time.Second
	// shortestPause and longestPause bound the pauses after transient faults. Each pause is about
	// as long as the time since the first of these faults.
	shortestPause = 5 * time.Second
	longestPause  = 10 * time.Minute
	// longestHostPause replaces longestPause for faults of the machine. It is longer, because each
	// attempt on a full disk fetches the media again.
	longestHostPause = time.Hour
	// longestRetryAfter bounds the pause that another server may ask for.
	longestRetryAfter = time.Hour
	// PauseBound is longer than any pause that can begin now, by more than the difference between the clocks of two hosts.
	PauseBound = longestRetryAfter + time.Minute
)

// Times for which a request is tried again after transient faults in a row.
const (
	// missingPatience is for a missing host. The host may be restarting, or a resolver may have
	// lost its name for a moment.
	missingPatience = time.Minute
	// serverPatience is for the network and other servers. It is long enough for an outage of a
	// provider, and short enough for the client to learn of the failure on the same day.
	serverPatience = 6 * time.Hour
	// answerPatience replaces it for a server that answers each time in the same way, such as with a file that is cut off.
	answerPatience = time.Hour
	// hostPatience is for faults of the machine. It is longer than a weekend without an operator,
	// and shorter than the 7 days for which AWS keeps the files of forms.
	hostPatience = 3 * 24 * time.Hour
	// longestFetching is the largest total time of a request's attempts that end because an input could
	// not be fetched. A file that does not arrive within its 20 minutes is therefore tried three
	// times. After that time no attempt begins either whose output may not be sent; the last one may
	// end later, so that a long rendering has two attempts.
	longestFetching = time.Hour
)

// Fault ends an attempt at a claimed request that failed with err after the time held. The error
// must not be the end of a context. If another attempt can't help, or the request was tried for
// long enough, Fault makes it failed and again is zero. Otherwise it postpones the request until
// the time again. It returns Conflict if the worker has lost the request.
//
// A request with faults of the service is tried MaxAttempts times. Transient faults do not count as
// attempts: the request is tried for a time that begins with the first of these faults in a row.
func (s *Service) Fault(ctx context.Context, r lipsync.Request, err error, held time.Duration) (f failure.Failure, again time.Time, _ error) {
	f, now, later := failure.Of(err), s.Now(), r
	later.Failure.Details = f.Details
	switch {
	case f.Code.Postpones():
		lasts, patience := delay(&later, f.Code, now, held)
		if f.Code == failure.MediaUnreachable && f.Status != 0 && f.Status == r.Failure.Status {
			patience = answerPatience
		}
		switch {
		case f.Code.OfUpload() && r.Fetching >= longestFetching:
		case f.Code.OfFetch() && later.Fetching >= longestFetching:
			f.Code = failure.MediaTooSlow
		case lasts < patience:
			again = now.Add(s.transientPause(f.Code, lasts, err))
		}
	case f.Code.Class() == failure.OfOurs && !r.Spent():
		later.EndDelays()
		again = now.Add(s.jitter(firstPause << (r.Attempts - 1)))
	}
	if again.IsZero() {
		return f, again, s.Fail(ctx, r, f)
	}
	postpone := func(stored lipsync.Request) (lipsync.Request, error) { return stored.Postponed(later, again) }
	if _, err := s.Store.Leases.Change(ctx, r.ID, postpone); err != nil {
		return f, time.Time{}, err
	}
	s.Watcher.Postponed(later, f)
	return f, again, nil
}

// delay records that a fault with the code ended an attempt that took the time held. It returns the
// time since the first such fault in a row, and the time for which such faults may go on.
//
// Each kind of fault has its own first time, so the time of another kind does not count. A fault of
// a kind with more patience resets the kinds with less. Kinds that alternate therefore also end,
// with the patience of the longest.
func delay(r *lipsync.Request, code failure.Reason, now time.Time, held time.Duration) (lasts, patience time.Duration) {
	r.Attempts, r.Delays = r.Attempts-1, r.Delays+1
	if code.OfFetch() || code.OfUpload() {
		r.Fetching += held
	}
	var first *time.Time
	switch code {
	case failure.MediaHostMissing, failure.UploadHostMissing:
		first, patience = &r.MissingSince, missingPatience
	case failure.HostFailing:
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

// transientPause returns the pause after a fault whose first one in a row was the time lasts ago.
// The pause is at least as long as the other server asked for in RetryAfter. The RetryAfter of
// NoSpace is for clients and does not count.
func (s *Service) transientPause(code failure.Reason, lasts time.Duration, err error) time.Duration {
	longest := longestPause
	if code == failure.HostFailing {
		longest = longestHostPause
	}
	pause := s.jitter(min(max(lasts, shortestPause), longest))
	if e, ok := errors.AsType[*failure.Error](err); ok && e.Code != failure.NoSpace {
		pause = max(pause, min(e.RetryAfter, longestRetryAfter))
	}
	return pause
}

// jitter returns a random time from half of d to d, so that requests that failed together are not
// tried again together.
func (s *Service) jitter(d time.Duration) time.Duration {
	return d/2 + d/2*time.Duration(s.RandomByte())/255
}
