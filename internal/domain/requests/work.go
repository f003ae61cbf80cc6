package requests

import (
	"context"
	"strings"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// FinishTime bounds the write that makes a request final, after its output is stored.
const FinishTime = 10 * time.Second

// Claim leases the request with the id to the caller, or the next request of no account in except if id is ""; see
// Leases.Claim. If that claim was one too many, Claim makes the request failed and tries again. It
// returns NotFound if there is nothing to claim, and for the time of a Lease after the clock was set
// forward.
func (s *Service) Claim(ctx context.Context, id string, except ...string) (lipsync.Request, error) {
	return s.ClaimFrom(ctx, id, lipsync.Choice{Duty: s.Duty, Except: except})
}

// ClaimFrom does what Claim does, from a choice of requests.
func (s *Service) ClaimFrom(ctx context.Context, id string, from lipsync.Choice) (lipsync.Request, error) {
	if !s.Settled() {
		return lipsync.Request{}, failure.New(failure.NotFound, "the clock was set forward")
	}
	for {
		r, err := s.Store.Leases.Claim(ctx, id, s.NewID(), s.Now(), lipsync.Lease, from)
		if err != nil {
			return lipsync.Request{}, err
		}
		if r.Claims == 1 {
			s.Watcher.Started(r)
			s.Announce(ctx, 0, r.Deliveries()...)
		}
		if !r.Overspent() {
			return r, nil
		}
		if err := s.Fail(ctx, r, failure.Failure{Code: failure.InternalFault}); err != nil && failure.CodeOf(err) != failure.Conflict {
			return lipsync.Request{}, err
		}
	}
}

// Renew holds a claimed request for another Lease. It returns Conflict if the worker has lost the
// request.
func (s *Service) Renew(ctx context.Context, r lipsync.Request) error {
	return s.Store.Leases.Renew(ctx, r.ID, r.Lease, s.Now().Add(lipsync.Lease))
}

// Report stores the progress of a claimed request. It returns Conflict if the worker has lost the
// request.
func (s *Service) Report(ctx context.Context, r lipsync.Request, p lipsync.Progress) error {
	return s.Store.Leases.Report(ctx, r.ID, r.Lease, p)
}

// Held checks that the worker still holds the claimed request. It returns Conflict if another
// worker has claimed the request, or if its client has canceled it.
func (s *Service) Held(ctx context.Context, r lipsync.Request) error {
	stored, err := s.Store.Requests.ByID(ctx, r.ID)
	if err == nil && stored.Lease != r.Lease {
		return lipsync.ErrLost
	}
	return err
}

// Release ends the lease of a claimed request. The attempt does not count. Release returns Conflict
// if the worker has lost the request.
func (s *Service) Release(ctx context.Context, r lipsync.Request) error {
	_, err := s.Store.Leases.Change(ctx, r.ID, func(stored lipsync.Request) (lipsync.Request, error) { return stored.Released(r.Lease) })
	return err
}

// Enlarge gives back a claimed request that is too large for this worker: see Request.Enlarged. It returns Conflict if the worker has lost the
// request.
func (s *Service) Enlarge(ctx context.Context, r lipsync.Request) error {
	r, err := s.Store.Leases.Change(ctx, r.ID, func(stored lipsync.Request) (lipsync.Request, error) { return stored.Enlarged(r.Lease) })
	if err == nil {
		_ = s.Hints.Send(ctx, r) // if this fails, Sweep starts a worker
	}
	return err
}

// Fail makes a claimed request failed. It returns Conflict if the worker has lost the request.
func (s *Service) Fail(ctx context.Context, r lipsync.Request, f failure.Failure) error {
	return s.Finish(ctx, r, lipsync.Outcome{Failure: f})
}

// Finish makes a claimed request final, with the lengths of its media in r. It returns Conflict if the worker has lost the request. If an earlier
// call did the same, but its answer was lost, Finish returns no error.
func (s *Service) Finish(ctx context.Context, r lipsync.Request, o lipsync.Outcome) error {
	now := s.Now()
	o.VideoLength, o.AudioLength = r.VideoLength, r.AudioLength
	ended, err := s.Store.Leases.Change(ctx, r.ID, func(stored lipsync.Request) (lipsync.Request, error) { return stored.Ended(r.Lease, now, o) })
	if failure.CodeOf(err) == failure.Conflict {
		stored, getErr := s.Store.Requests.ByID(ctx, r.ID)
		if getErr != nil {
			return getErr
		}
		if !stored.Status.Final() || stored.Output != o.Output || stored.Failure != o.Failure {
			return err
		}
		ended = stored
	} else if err != nil {
		return err
	}
	s.Watcher.Finished(ended)
	s.Announce(ctx, 0, ended.Deliveries()...)
	s.dropMedia(ctx, ended)
	return nil
}

// CancelByID sets the request with the id to failed; see Cancel.
func (s *Service) CancelByID(ctx context.Context, id string) (lipsync.Request, error) {
	now := s.Now()
	r, err := s.Store.Leases.Change(ctx, id, func(stored lipsync.Request) (lipsync.Request, error) { return stored.Canceled(now) })
	if failure.CodeOf(err) == failure.Conflict {
		if r, err = s.Store.Requests.ByID(ctx, id); err == nil && r.Failure.Code != failure.Canceled {
			err = failure.New(failure.Finished, "lipsync request is already finished")
		}
	} else if err == nil {
		s.Watcher.Finished(r)
		s.Announce(ctx, 0, r.Deliveries()...)
	}
	if err != nil {
		return lipsync.Request{}, err
	}
	s.dropMedia(ctx, r)
	return r, nil
}

// dropMedia deletes the media that a final request no longer needs: the inputs that were stored for
// it, the outputs of claims whose workers died, and the pieces of outputs. Tidy deletes the media that dropMedia can't.
func (s *Service) dropMedia(ctx context.Context, r lipsync.Request) {
	ctx = context.WithoutCancel(ctx)
	for _, in := range r.Inputs() {
		if strings.HasPrefix(in.Object, lipsync.InputKeys) {
			_ = s.Objects.Delete(ctx, in.Object)
		}
	}
	for claim := 1; claim <= r.Claims; claim++ {
		if key := r.OutputKey(claim); key != r.Output {
			_ = s.DeleteOutput(ctx, key)
		}
	}
	if r.Claims > 0 {
		_ = s.dropPieces(ctx, r)
	}
}
