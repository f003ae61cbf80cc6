package lipsync

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"syscall"
	"time"
)

// Because returns the failure as the error of an attempt, with its cause for the
// logs, which may be nil.
func (f Failure) Because(cause error) error {
	e := &Error{Code: Internal, Message: f.Sentence(), Err: cause, Failure: f}
	switch f.Code.Class() {
	case OfInput:
		e.Code = Invalid
	case OfWeather:
		e.Code = Unavailable
		if earlier, ok := errors.AsType[*Error](cause); ok {
			e.RetryAfter = earlier.RetryAfter
		}
	}
	return e
}

// FailureOf returns the failure that an attempt ended by: the one that the first
// *Error in err's chain tells; HostFailing if the machine, its network or another
// part of the service fails for a while; else InternalFault.
func FailureOf(err error) Failure {
	e, ok := errors.AsType[*Error](err)
	switch {
	case ok && e.Failure.Code != "":
		return e.Failure
	case ok && (e.Code == Unavailable || e.Code == RateLimited || e.Code == NoSpace), IsHostFault(err), isNetworkFault(err), isBusy(err):
		return Failure{Code: HostFailing}
	default:
		return Failure{Code: InternalFault}
	}
}

// IsHostFault reports whether err says that the machine has no more disk space,
// memory, open files or processes.
func IsHostFault(err error) bool {
	return slices.ContainsFunc([]syscall.Errno{
		syscall.ENOSPC, syscall.EDQUOT, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.ENOBUFS,
	}, func(number syscall.Errno) bool { return errors.Is(err, number) })
}

// isNetworkFault reports whether err says that another machine can't be reached.
func isNetworkFault(err error) bool {
	_, ok := errors.AsType[*net.OpError](err)
	return ok
}

// isBusy reports whether err is the answer of a server that can't do its work now,
// as the libraries that speak HTTP for an adapter tell it.
func isBusy(err error) bool {
	answer, ok := errors.AsType[interface {
		error
		HTTPStatusCode() int
	}](err)
	return ok && (answer.HTTPStatusCode() >= 500 || answer.HTTPStatusCode() == http.StatusTooManyRequests)
}

// Pauses between attempts.
const (
	// firstPause comes after the first attempt that a fault of ours ended; the
	// next one is twice as long.
	firstPause = 30 * time.Second
	// shortestPause and longestPause bound the pauses after faults of the weather:
	// each is about as long as all of the time since the first of these faults.
	shortestPause = 5 * time.Second
	longestPause  = 10 * time.Minute
	// longestRetryAfter bounds what another's server may ask for.
	longestRetryAfter = time.Hour
)

// Fault ends an attempt at a claimed request that err, which is no end of a
// context, brought to nothing. It makes the request failed if trying again doesn't
// help, or was done for long enough. Else it gives the request back, and again
// says when it's to be claimed next. Conflict if the request was lost.
//
// Faults of ours are tried MaxAttempts times. Those of the weather take no
// attempt: they are tried for a time, which begins with the first one in a row.
func (s *Service) Fault(ctx context.Context, r Request, err error) (f Failure, again time.Time, _ error) {
	f, now := FailureOf(err), s.Now()
	patience := f.Code.patience()
	switch {
	case patience > 0:
		if r.DelayedSince.IsZero() {
			r.DelayedSince = now
		}
		if now.Sub(r.DelayedSince) >= patience {
			break
		}
		again = now.Add(s.weatherPause(now.Sub(r.DelayedSince), err))
		r.Attempts, r.Delays = r.Attempts-1, r.Delays+1
	case f.Code.Class() == OfOurs && !r.Spent():
		r.DelayedSince = time.Time{}
		again = now.Add(s.jitter(firstPause << (r.Attempts - 1)))
	}
	if again.IsZero() {
		return f, again, s.Fail(ctx, r, f)
	}
	if err := s.Store.Postpone(ctx, r, again); err != nil {
		return f, time.Time{}, err
	}
	s.watcher().PutOff(r, f)
	return f, again, nil
}

// weatherPause is how long to wait after a fault of the weather, when the first
// one in a row was so long ago: at least as long as the other side asks for.
func (s *Service) weatherPause(since time.Duration, err error) time.Duration {
	pause := s.jitter(min(max(since, shortestPause), longestPause))
	if e, ok := errors.AsType[*Error](err); ok {
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
