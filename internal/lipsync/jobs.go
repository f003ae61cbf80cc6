package lipsync

import (
	"context"
	"time"
)

// Dispatch starts a job for a request that waits. It does nothing for one that
// is final, held, in a pause between attempts, or spent, which Sweep closes. NotFound for an unknown id.
func (s *Service) Dispatch(ctx context.Context, id string) error {
	r, err := s.Store.Get(ctx, id)
	if err != nil {
		return err
	}
	early := s.Now().Before(r.LeaseUntil)
	if r.Status.Final() || early || r.Spent() {
		return nil
	}
	return s.Jobs.Submit(ctx, id)
}

// JobFailed takes note that a job, which ran since started (zero if it never
// did), ended without doing its request. It counts as an attempt, whose lease then
// runs out: a pause, after which Sweep sends the request again. It does nothing
// for a job that never ran, since the request is not what kept it from running: Sweep
// sends that again too. Nor does it for a request that is final, or that was held since
// then or waits for its next attempt: that claim is counted already.
func (s *Service) JobFailed(ctx context.Context, id string, started time.Time) error {
	if started.IsZero() {
		return nil
	}
	err := s.countJob(ctx, id, started)
	if CodeOf(err) == NotFound {
		return nil
	}
	return err
}

func (s *Service) countJob(ctx context.Context, id string, started time.Time) error {
	r, err := s.Store.Get(ctx, id)
	if err != nil || r.LeaseUntil.After(started) {
		return err
	}
	_, err = s.Claim(ctx, id)
	return err
}
