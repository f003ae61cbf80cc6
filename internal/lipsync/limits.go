package lipsync

import (
	"fmt"
	"time"
)

// Limits bound what one account may have, and for how long, so that none takes what all
// share. In a call of a store a limit of 0 is none.
type Limits struct {
	Open   int   // requests that are not final
	Stored int64 // bytes of its uploads and outputs; see Requests.Create
	Keys   int   // API keys that are not revoked
	Keep   Retention
}

// Retention is how long media are kept. Files that come with a request in a form are
// kept until its end, whatever is set.
type Retention struct {
	Inputs  time.Duration // of an upload since it was announced or last used; 0 is 24 hours
	Outputs time.Duration // of an output since its request completed; 0 is 30 days
}

// InputLife returns how long an upload stays after it was announced or last used.
func (r Retention) InputLife() time.Duration {
	if r.Inputs == 0 {
		return 24 * time.Hour
	}
	return r.Inputs
}

// OutputLife returns how long an output stays after its request completed.
func (r Retention) OutputLife() time.Duration {
	if r.Outputs == 0 {
		return 30 * 24 * time.Hour
	}
	return r.Outputs
}

// OutputDays returns for how many days (UTC) the bytes of an output count: from the day on
// which its request was made to the last one that can see it. It is up to a day more than
// OutputLife, which begins when the request completes.
func (r Retention) OutputDays() int {
	const day = 24 * time.Hour
	return int((r.OutputLife()+day-1)/day) + 1
}

// DefaultLimits returns the limits where the Service says no others.
func DefaultLimits() Limits { return Limits{Open: 1000, Stored: 1 << 40, Keys: 1000} }

// openRetry is when a client may try again that has too many open requests. How soon
// one of them ends, nobody can tell; many last about as long.
const openRetry = time.Minute

// limits returns the account limits.
func (s *Service) limits() Limits {
	l := s.Limits
	if l.Open == 0 {
		l.Open = DefaultLimits().Open
	}
	if l.Stored == 0 {
		l.Stored = DefaultLimits().Stored
	}
	if l.Keys == 0 {
		l.Keys = DefaultLimits().Keys
	}
	return l
}

// CheckArriving returns StorageLimit if an account may not store as many bytes as arrive for
// it just now.
func (s *Service) CheckArriving(bytes int64) error {
	if l := s.limits(); bytes > l.Stored {
		return l.explain(newError(StorageLimit, "more bytes arrive"))
	}
	return nil
}

// explain gives an error of a store, which says that one of the limits is reached, the
// sentence that a client is to read. It leaves any other as it is.
func (l Limits) explain(err error) error {
	switch CodeOf(err) {
	case OpenLimit:
		return &Error{
			Code: OpenLimit, Err: err, RetryAfter: openRetry,
			Message: fmt.Sprintf("account has as many open requests as it may have, %d; try again when one is finished", l.Open),
		}
	case StorageLimit:
		return restate(err, StorageLimit, fmt.Sprintf("account's uploads and outputs may take %s, and there is no room for more", Spell(l.Stored)))
	default:
		return err
	}
}
