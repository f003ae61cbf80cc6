package lipsync

import (
	"time"

	"lipsync/internal/domain/failure"
)

// Here is how a request changes, and when it may. A store reads a request, calls one of these methods, and writes the result unless
// another process has changed the request meanwhile. If there is no such request, the store calls it for the zero Request, and returns
// the error. Times in the result have the precision of stores. What follows from a change of the status is in News and GivesBack.

// Lease is the time for which a worker holds a request before it must renew the lease.
const Lease = time.Minute

// Numbers of claims after which a request fails.
const (
	// MaxAttempts is the largest number of claims, without those that ended with a release.
	MaxAttempts = 3
	// MaxClaims is the largest number of all claims, without Delays. It ends a request that crashes
	// the process at each attempt. Recover does not count such an attempt. Restarts and crashes with
	// other causes reach it only if they are very frequent.
	MaxClaims = 30
)

// Transition is a change of a request: it returns the request as it is to be stored, or why it may not change.
type Transition func(Request) (Request, error)

// StoredTime returns the time with the precision of stores.
func StoredTime(t time.Time) time.Time { return t.Truncate(time.Microsecond).UTC() }

// Created returns a new request with the webhooks of its account that get its events: see Targets.Resolve, whose errors it returns. Only
// a request ToRender has events.
func (r Request) Created(a AccountWebhooks) (_ Request, err error) {
	if r.Kind == ToRender {
		r.Targets, err = r.Targets.Resolve(a)
	}
	return r, err
}

// Claimable reports whether a worker may claim the request at now: it is not final, and no other worker holds it.
func (r Request) Claimable(now time.Time) bool {
	return r.ID != "" && !r.Status.Final() && !r.LeaseUntil.After(now)
}

// Claimed returns the request as a worker with the token has claimed it until now+lease, or NotFound if it isn't Claimable. An attempt
// whose lease ran out counts as one without a delay. Its worker may have lacked memory, so a small request becomes Large.
func (r Request) Claimed(token string, now time.Time, lease time.Duration) (Request, error) {
	if !r.Claimable(now) {
		return Request{}, failure.New(failure.NotFound, "not found")
	}
	if r.Lease != "" {
		r.EndDelays()
		r.enlarge()
	}
	if r.StartedAt.IsZero() {
		r.StartedAt = StoredTime(now)
	}
	r.Claims, r.Attempts = r.Claims+1, r.Attempts+1
	r.Status, r.Lease, r.LeaseUntil, r.Progress = Processing, token, StoredTime(now.Add(lease)), Progress{}
	return r, nil
}

// ErrLost is the Conflict of a worker whose lease of a request was lost.
var ErrLost error = failure.New(failure.Conflict, "lease lost")

// unheld returns the request without the lease that has the token, or Conflict if that lease is lost.
func (r Request) unheld(token string) (Request, error) {
	if token == "" || r.Lease != token {
		return Request{}, ErrLost
	}
	return r.withoutLease(), nil
}

func (r Request) withoutLease() Request {
	r.Lease, r.LeaseUntil, r.Progress = "", time.Time{}, Progress{}
	return r
}

// Released returns the request after its worker gave it back: the attempt does not count. It returns Conflict if the lease is lost.
func (r Request) Released(token string) (Request, error) {
	r, err := r.unheld(token)
	if err != nil {
		return Request{}, err
	}
	r.Attempts--
	r.EndDelays()
	return r, nil
}

// Postponed returns the request after an attempt that is to be repeated, but not before the time until. It has the numbers and times
// of attempts and delays of attempted, and the details of the failure that ended it; which also names the lease. It returns Conflict if that lease is lost.
func (r Request) Postponed(attempted Request, until time.Time) (Request, error) {
	r, err := r.unheld(attempted.Lease)
	if err != nil {
		return Request{}, err
	}
	r.LeaseUntil, r.Attempts, r.Delays, r.Fetching = StoredTime(until), attempted.Attempts, attempted.Delays, attempted.Fetching
	r.Failure.Details = attempted.Failure.Details
	r.MissingSince, r.UnreachableSince, r.FailingSince = StoredTime(attempted.MissingSince), StoredTime(attempted.UnreachableSince), StoredTime(attempted.FailingSince)
	return r, nil
}

// Resumed returns the request as workers may claim it from now on, or Conflict if it is not postponed until the time until.
func (r Request) Resumed(until, now time.Time) (Request, error) {
	if r.Lease != "" || r.LeaseUntil.IsZero() || !r.LeaseUntil.Equal(until) {
		return Request{}, failure.New(failure.Conflict, "pause is over")
	}
	r.LeaseUntil = StoredTime(now)
	return r, nil
}

// Ended returns the request as the worker with the token has ended it, completed or failed, or Conflict if the lease is lost.
func (r Request) Ended(token string, now time.Time, o Outcome) (Request, error) {
	r, err := r.unheld(token)
	if err != nil {
		return Request{}, err
	}
	r.Status, r.FinishedAt, r.Failure = Completed, StoredTime(now), o.Failure
	if o.Failure.Code != "" {
		r.Status = Failed
	}
	r.Output, r.Poster, r.Length, r.Size = o.Output, o.Poster, o.Length, o.Size
	r.VideoLength, r.AudioLength = o.VideoLength, o.AudioLength
	r.Frames, r.Unsynced, r.Warnings, r.Sync = o.Frames, o.Unsynced, r.Warnings.With(o.Warnings), o.Sync
	return r, nil
}

// Canceled returns the request as its client has ended it, even while a worker holds it. It returns NotFound if there is no request, and
// Conflict if it is final.
func (r Request) Canceled(now time.Time) (Request, error) {
	switch {
	case r.ID == "":
		return Request{}, failure.New(failure.NotFound, "not found")
	case r.Status.Final():
		return Request{}, failure.New(failure.Conflict, "request is final")
	}
	r = r.withoutLease()
	r.Status, r.FinishedAt, r.Failure = Failed, StoredTime(now), failure.Failure{Code: failure.Canceled}
	if r.StartedAt.IsZero() {
		r.StartedAt = r.FinishedAt
	}
	return r, nil
}

// WithoutMedia returns the request after its media were deleted; once they are, it stays as it is. It returns NotFound if there is no
// request, and Conflict if it is not final.
func (r Request) WithoutMedia(now time.Time) (Request, error) {
	switch {
	case r.ID == "":
		return Request{}, failure.New(failure.NotFound, "not found")
	case !r.Status.Final():
		return Request{}, failure.New(failure.Conflict, "request is not final")
	case r.MediaDeletedAt.IsZero():
		r.MediaDeletedAt, r.Output, r.Poster, r.VideoSum = StoredTime(now), "", false, [len(r.VideoSum)]byte{}
	}
	return r, nil
}

// CheckErase returns Conflict if the record of the request may not be erased: the request isn't final, or may have media.
func (r Request) CheckErase() error {
	if !r.Status.Final() || r.MediaDeletedAt.IsZero() {
		return failure.New(failure.Conflict, "request is not final or has media")
	}
	return nil
}

// EndDelays records that an attempt ended without a delay.
func (r *Request) EndDelays() {
	r.MissingSince, r.UnreachableSince, r.FailingSince = time.Time{}, time.Time{}, time.Time{}
}

// GivesBack reports whether the request, whose status was another one before, gives its key one use back: it just failed through no fault
// of its client.
func (r Request) GivesBack(was Status) bool {
	return !was.Final() && r.Status == Failed && r.KeyID != "" && r.Failure.Free()
}
