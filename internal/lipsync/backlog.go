package lipsync

import "time"

// Backlog is the open requests of all accounts together, for metrics.
type Backlog struct {
	Queued, Processing int64
	// WaitingSince is since when the request waits for a worker that has waited
	// longest: its creation, or the end of a lease that ran out. Zero if none waits.
	WaitingSince time.Time
}
