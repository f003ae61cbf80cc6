package lipsync

import "time"

// Backlog counts the open requests of all accounts, for metrics.
type Backlog struct {
	Queued, Processing int64
	// WaitingSince is the time since which the request that has waited longest for a worker waits:
	// its creation, or the end of a lease that ran out. It is zero if no request waits.
	WaitingSince time.Time
}
