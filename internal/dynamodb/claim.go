package dynamodb

import (
	"context"
	"time"

	"lipsync/internal/lipsync"
)

// How much a claim reads: of each shard turnPage turns that wait, and as many of what is held or
// may be claimed again. Where a shard has more that waits, it goes from one account to the next,
// in maxTurnPages calls at most. So few turns are one read unit, and a shard bears
// some 600 claims a second however much waits.
const (
	turnPage     = 25
	maxTurnPages = 4
)

// maxSurveys is how often a claim looks anew after others took all that it saw.
const maxSurveys = 3

// Claim implements lipsync.Leases.
func (s leases) Claim(ctx context.Context, id, token string, now time.Time, lease time.Duration) (lipsync.Request, error) {
	r, err := s.claim(ctx, id, token, now, lease)
	if err == nil {
		s.noteClaim(ctx, r.Account, now)
	}
	return r, err
}

func (s *Store) claim(ctx context.Context, id, token string, now time.Time, lease time.Duration) (lipsync.Request, error) {
	var last stored // that was tried
	claim := func(r stored) (stored, error) {
		if last = r; r.Lease == token {
			return r, nil // a try whose answer was lost
		}
		if !r.claimable(now) {
			return stored{}, notFound()
		}
		if r.Claims == 0 {
			if err := s.makeListed(ctx, r); err != nil {
				return stored{}, err
			}
		}
		if r.Lease != "" {
			r.EndDelays()
		}
		r.Status, r.Lease, r.LeaseUntil = lipsync.Processing, token, now.Add(lease)
		r.Claims, r.Attempts, r.Progress = r.Claims+1, r.Attempts+1, lipsync.Progress{}
		if r.StartedAt.IsZero() {
			r.StartedAt = now
		}
		return r, nil
	}
	if id != "" {
		return s.change(ctx, id, claim)
	}
	for range maxSurveys {
		v, err := s.survey(ctx, now)
		if err != nil {
			return lipsync.Request{}, err
		}
		lost := 0
		for c, ok := v.pick(lost); ok; c, ok = v.pick(lost) {
			claimed, err := s.change(ctx, c.id, claim)
			if lipsync.CodeOf(err) != lipsync.NotFound {
				return claimed, err
			}
			if last.queued {
				err = s.mendTurn(ctx, c.id)
			} else if !last.Status.Final() { // another worker was faster
				v.running[c.account]++
				lost++
			}
			if err != nil && lipsync.CodeOf(err) != lipsync.NotFound {
				return lipsync.Request{}, err
			}
		}
		if v.whole {
			break
		}
	}
	return lipsync.Request{}, notFound()
}
