package lipsync

import (
	"context"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
)

// IsEstimate reports whether the request asks for an Estimate of itself, and not for an output.
func (r Request) IsEstimate() bool { return r.Kind == ToEstimate }

// Estimate creates a request for an Estimate of a request with the parameters, and returns its id. It refuses what Generate would refuse,
// except for limits. It doesn't use the key's limit, the reference id, the webhook or the idempotency key.
func (s *Service) Estimate(ctx context.Context, c Caller, p RequestParams) (id string, err error) {
	engine, err := s.check(p)
	if err != nil {
		return "", err
	}
	r, err := s.newRequest(ctx, c, p, engine)
	if err != nil {
		return "", err
	}
	if err := s.Room(0); err != nil {
		return "", err
	}
	if err := s.checkTargets(ctx, c, r.Targets); err != nil {
		return "", err
	}
	r.Kind, r.KeyID, r.ReferenceID, r.Targets = ToEstimate, "", "", nil
	p.IdempotencyKey = nil
	return s.create(ctx, r, p)
}

// checkTargets returns an error, which is Invalid, if the caller has no webhook that the Targets of a new request name, or if it is disabled.
func (s *Service) checkTargets(ctx context.Context, c Caller, t Targets) error {
	if t.URL() == "" {
		return nil
	}
	webhooks, err := s.Store.Webhooks.Of(ctx, c.Account)
	if err != nil {
		return err
	}
	_, err = t.Resolve(webhooks)
	return unless(failure.EventLimit, explainTargets(err))
}

// Estimated is a request for an Estimate.
type Estimated struct {
	Request
	*order.Estimate // nil unless the request is completed and the Estimate still kept

	Took  time.Duration // expected time that a worker will take for the estimated request; 0 if unknown
	Place Place         // of the estimated request, if it were made now
}

// Estimated returns the caller's request for an Estimate. It returns NotFound for requests of other accounts.
func (s *Service) Estimated(ctx context.Context, c Caller, id string) (e Estimated, err error) {
	e.Request, err = s.findOf(ctx, c.Account, ToEstimate, id, "estimate not found")
	if err != nil {
		return e, err
	}
	found := new(order.Estimate)
	if kept, err := s.readOutput(ctx, e.Request, found); !kept {
		return e, err
	}
	if e.Estimate = found; len(found.Problems) > 0 {
		return e, nil
	}
	speeds, err := s.Store.Speeds.All(ctx)
	if err != nil {
		return e, err
	}
	e.Took = speeds[e.Engine].Time(found.Size)
	next := Request{Account: c.Account, CreatedAt: s.Now()}
	line, err := s.line(ctx, next)
	if line != nil {
		idle := 0
		if s.Pooled { // the worker that made the estimate may wait for the next request
			idle = line.idle(next.CreatedAt, e.FinishedAt)
		}
		e.Place = s.place(next, line, speeds, e.Took, idle)
	}
	return e, err
}

// CompleteEstimate stores the Estimate of a claimed request, and makes the request completed; see Complete.
func (s *Service) CompleteEstimate(ctx context.Context, r Request, e order.Estimate) error {
	return s.completeJSON(ctx, r, e)
}

// NoteSpeed records how long a worker took for a completed request, from its claim to its end. The size is that of Speed.
func (s *Service) NoteSpeed(ctx context.Context, r Request, size int64, took time.Duration) error {
	return s.Store.Speeds.Note(ctx, r.Engine, NewSpeed(size, took))
}
