package lipsync

import (
	"testing"
	"time"

	"lipsync/internal/domain/failure"
)

// TestReason reads why requests wait or failed.
func TestReason(t *testing.T) {
	known := failure.Failure{Details: failure.Details{Cause: "video from a.example: the server answered 503"}}
	next := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for want, r := range map[string]Request{
		"": {Status: Completed, Delays: 2, Failure: known},
		"video from a.example: the server answered 503":                                               {Status: Failed, Delays: 2, Failure: known},
		"video from a.example: the server answered 503; tried 3 times, retry at 2026-01-31T12:00:00Z": {Status: Processing, Claims: 3, Delays: 3, LeaseUntil: next, Failure: known},
		"video from a.example: the server answered 503; retrying: try 4 is under way":                 {Status: Processing, Claims: 4, Delays: 3, Lease: "w", Failure: known},
		"tried 3 times, retry at 2026-01-31T12:00:00Z":                                                {Status: Processing, Claims: 3, Delays: 3, LeaseUntil: next},
	} {
		if got := r.Reason(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
