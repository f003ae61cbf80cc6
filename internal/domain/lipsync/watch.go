package lipsync

import (
	"time"

	"lipsync/internal/domain/failure"
)

// Watcher receives events for metrics. Its methods are quick and safe for concurrent use. Events
// just before the end of a process may get lost.
type Watcher interface {
	// Created reports a new request.
	Created(r Request)
	// Started reports a request's first claim.
	Started(r Request)
	// Finished reports a request that became final.
	Finished(r Request)
	// Postponed reports that the failure ended an attempt and that the request is postponed.
	Postponed(r Request, f failure.Failure)
	// Waiting reports, at each sweep, the longest time that a request has waited for a worker since
	// its creation or the end of a delay. It is 0 if no request waits.
	Waiting(oldest time.Duration)
	// Unreachable reports, at each sweep, a lower bound of the number of hosts that postponed
	// requests couldn't reach. One host that doesn't answer counts once, for any number of
	// requests.
	Unreachable(hosts int)
	// Failing reports, at each sweep, the longest time for which faults of the service's machines
	// have postponed a request again and again. It is 0 if they postpone none.
	Failing(longest time.Duration)
	// Posted reports an attempt at a delivery, with its outcome, and how long it took.
	Posted(d Delivery, took time.Duration)
	// Refused reports an event that the Bus will never take.
	Refused(e BusEvent)
	// CallNotNoted tells of a call that couldn't be kept in the log of calls.
	CallNotNoted()
}

// Backlog counts the open requests of all accounts, for metrics.
type Backlog struct {
	Queued, Processing int64
	// WaitingSince is the time since which the request that has waited longest for a worker waits:
	// its creation, or the end of a lease that ran out. It is zero if no request waits.
	WaitingSince time.Time
}
