package dynamodb

import (
	"context"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/queue"
	"lipsync/internal/store/dynamodb/table"
)

// maxSurveys is the most times that a claim reads the queue. It reads the queue again if other
// workers claimed all requests that it found.
const maxSurveys = 3

func (s leases) Claim(ctx context.Context, id, token string, now time.Time, lease time.Duration, from lipsync.Choice) (lipsync.Request, error) {
	r, err := s.claim(ctx, id, token, now, lease, from)
	if err == nil {
		s.NoteClaim(ctx, queue.OwnerOf(r), now)
	}
	return r, err
}

func (s *Store) claim(ctx context.Context, id, token string, now time.Time, lease time.Duration, from lipsync.Choice) (lipsync.Request, error) {
	var last stored // the last one that was tried
	claim := func(r stored) (stored, error) {
		if last = r; r.Lease == token {
			return r, nil // an earlier try succeeded, but its answer was lost
		}
		claimed, err := r.Claimed(token, now, lease)
		if err == nil && r.Claims == 0 {
			err = s.makeListed(ctx, r)
		}
		r.Request = claimed
		return r, err
	}
	take := func(id string) (lipsync.Request, error) {
		r, err := s.replace(ctx, id, claim)
		if err == nil && last.Lease != token {
			s.Queue.AddHeld()
		}
		return r, err
	}
	if id != "" {
		return take(id)
	}
	for range maxSurveys {
		v, err := s.Queue.Survey(ctx, now, from)
		if err != nil {
			return lipsync.Request{}, err
		}
		for id, ok := v.Pick(); ok; id, ok = v.Pick() {
			claimed, err := take(id)
			if failure.CodeOf(err) != failure.NotFound {
				return claimed, err
			}
			if last.queued {
				err = s.repairEntry(ctx, id)
			} else if !last.Status.Final() { // another worker was faster
				v.Lose(now)
			}
			if err != nil && failure.CodeOf(err) != failure.NotFound {
				return lipsync.Request{}, err
			}
		}
		if v.Whole() {
			break
		}
	}
	return lipsync.Request{}, table.NotFound()
}
