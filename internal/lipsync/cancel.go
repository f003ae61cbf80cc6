package lipsync

import "context"

// Cancel makes the caller's request failed, whether it waits or is processed. The
// worker that holds it soon sees that it lost it, and stops. Finished if there is
// nothing to cancel any more; but a request that was canceled is returned again,
// so that who got no answer may ask twice.
func (s *Service) Cancel(ctx context.Context, c Caller, idOrReference string) (Request, error) {
	found, err := s.find(ctx, c.Account, idOrReference)
	if err != nil {
		return Request{}, restate(err, NotFound, "lipsync request not found")
	}
	r, err := s.Leases.Cancel(ctx, found.ID, s.Now(), Failure{Code: Canceled})
	if CodeOf(err) == Conflict {
		if r, err = s.Requests.ByID(ctx, found.ID); err == nil && r.Failure.Code != Canceled {
			err = newError(Finished, "lipsync request is already finished")
		}
	} else if err == nil {
		s.watcher().Finished(r)
	}
	if err != nil {
		return Request{}, err
	}
	s.dropMedia(ctx, r)
	return r, nil
}
