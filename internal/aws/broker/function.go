package broker

import (
	"context"
	"encoding/json"
	"log/slog"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
)

// Sessions gives sessions to runners.
type Sessions interface {
	// Open returns the credentials of a session with the rights, as the policy tells them, and no more. The name is in AWS's logs.
	Open(ctx context.Context, name string, p policy) (*credentials, error)
}

// SmallWorkers counts small workers that run. They return NotFound for a start that isn't known.
type SmallWorkers interface {
	BeginSmall(ctx context.Context, start string) error
	EndSmall(ctx context.Context, start string) error
}

// function answers the messages of runners.
type function struct {
	records  *service.Service
	small    SmallWorkers
	sessions Sessions
	log      *slog.Logger
}

// Handler returns the function of Lambda that answers the messages of runners. It returns an error only if it can't tell the runner.
func Handler(s *service.Service, small SmallWorkers, sessions Sessions, log *slog.Logger) func(context.Context, json.RawMessage) (json.RawMessage, error) {
	f := &function{s, small, sessions, log}
	return func(ctx context.Context, text json.RawMessage) (json.RawMessage, error) {
		c, err := parse(text)
		var a answer
		if err == nil {
			a, err = f.do(ctx, c)
		}
		switch code := failure.CodeOf(err); {
		case err == nil:
		case code == failure.NotFound || code == failure.Conflict || code == failure.RateLimited:
		case code == failure.Invalid: // no runner of ours sends that
			log.WarnContext(ctx, "a runner's message is refused", "do", c.Do, "request", c.ID, "error", err)
		default:
			log.ErrorContext(ctx, "a runner's message fails", "do", c.Do, "request", c.ID, "error", err)
		}
		if err != nil {
			a.Error = newError(err, failure.Of(err))
		}
		return json.Marshal(a)
	}
}

// do does what a runner asks for. Except for claims and sums, it returns Conflict unless the runner holds the lease that it names.
func (f *function) do(ctx context.Context, c message) (a answer, err error) {
	r := lipsync.Request{ID: c.ID, Lease: c.Lease}
	switch c.Do { // these check the lease when they change it
	case claim:
		r, err := f.records.ClaimFrom(ctx, "", lipsync.Choice{Duty: c.Duty})
		if err == nil {
			a.Request = newClaimed(r)
		}
		return a, err
	case beginSmall:
		return a, f.small.BeginSmall(ctx, c.Start)
	case endSmall:
		return a, f.small.EndSmall(ctx, c.Start)
	case worked:
		a.All, err = f.records.Worked(ctx, lipsync.Stint{Class: c.Class, Took: c.Took, Duty: c.Duty})
		return a, err
	case renew:
		return a, f.records.Renew(ctx, r)
	case held:
		return a, f.records.Held(ctx, r)
	case report:
		return a, f.records.Report(ctx, r, c.Progress)
	case release:
		return a, f.records.Release(ctx, r)
	case enlarge:
		return a, f.records.Enlarge(ctx, r)
	}
	r, err = f.records.Store.Requests.ByID(ctx, c.ID)
	if err != nil {
		return a, err
	}
	switch output := c.Ended.Outcome.Output; {
	case r.Lease == c.Lease:
	case c.Do == noteSpeed: // comes after the end, which deletes the token
	case c.Do == finish && output != "" && output == r.Output: // the call was made before, and its answer was lost
		return a, nil
	default:
		return a, lipsync.ErrLost
	}
	r.Lease, r.VideoLength, r.AudioLength = c.Lease, c.Ended.VideoLength, c.Ended.AudioLength
	switch c.Do {
	case noteVideo:
		return a, f.records.NoteVideo(ctx, r, [32]byte(c.Video))
	case fault:
		failed, again, err := f.records.Fault(ctx, r, c.Ended.Fault.err(), c.Took)
		a.Fault, a.Again = wireError{Reason: failed.Code, Details: failed.Details}, again
		return a, err
	case finish:
		if c.Ended.Outcome.Output != r.OutputKey(r.Claims) {
			return a, lipsync.ErrLost
		}
		return a, f.records.Finish(ctx, r, c.Ended.Outcome)
	case noteSpeed:
		if r.Status != lipsync.Completed {
			return a, lipsync.ErrLost
		}
		return a, f.records.NoteSpeed(ctx, r, c.Size, min(c.Took, r.FinishedAt.Sub(r.StartedAt)))
	case session:
		a.Session, err = f.open(ctx, r, c.Key)
		return a, err
	}
	return a, invalid("does %q", c.Do)
}
