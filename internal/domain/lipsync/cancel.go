package lipsync

import (
	"context"

	"lipsync/internal/domain/failure"
)

// Cancel sets the caller's request to failed, whether it waits or is processed. The worker that
// holds the request soon learns that it lost the lease, and stops. Cancel returns Finished if the
// request is already final. If the request was canceled before, Cancel returns it again, so a
// client that got no answer can repeat the call.
func (s *Service) Cancel(ctx context.Context, c Caller, idOrReference string) (Request, error) {
	found, err := s.find(ctx, c.Account, idOrReference)
	if err != nil {
		return Request{}, failure.Restate(err, failure.NotFound, "lipsync request not found")
	}
	return s.cancel(ctx, found.ID)
}

// cancel sets the request with the id to failed; see Cancel.
func (s *Service) cancel(ctx context.Context, id string) (Request, error) {
	r, err := s.Store.Leases.Cancel(ctx, id, s.Now(), failure.Failure{Code: failure.Canceled})
	if failure.CodeOf(err) == failure.Conflict {
		if r, err = s.Store.Requests.ByID(ctx, id); err == nil && r.Failure.Code != failure.Canceled {
			err = failure.New(failure.Finished, "lipsync request is already finished")
		}
	} else if err == nil {
		s.Watcher.Finished(r)
		s.announce(ctx, 0, r.News(Processing)...)
	}
	if err != nil {
		return Request{}, err
	}
	s.dropMedia(ctx, r)
	return r, nil
}
