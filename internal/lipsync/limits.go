package lipsync

import (
	"fmt"
	"time"
)

// Limits bound what one account may have, so that none takes what all share. In a
// call of a store a limit of 0 is none.
type Limits struct {
	Open   int   // requests that are not final
	Stored int64 // bytes of its uploads and outputs; see Requests.Create
	Keys   int   // API keys that are not revoked
}

// DefaultLimits returns the limits where the Service says no others.
func DefaultLimits() Limits { return Limits{Open: 1000, Stored: 1 << 40, Keys: 1000} }

// OutputDays is for how many days (UTC) the bytes of an output count: from the day
// on which its request was made to the last one that can see it. It is a day more than
// OutputLife, which begins when the request completes.
const OutputDays = int(OutputLife/(24*time.Hour)) + 1

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
