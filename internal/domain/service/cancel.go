package service

import (
	"context"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// Cancel sets the caller's request to failed, whether it waits or is processed. The worker that
// holds the request soon learns that it lost the lease, and stops. Cancel returns Finished if the
// request is already final. If the request was canceled before, Cancel returns it again, so a
// client that got no answer can repeat the call.
func (s *Service) Cancel(ctx context.Context, c lipsync.Caller, idOrReference string) (lipsync.Request, error) {
	found, err := s.find(ctx, c.Account, idOrReference)
	if err != nil {
		return lipsync.Request{}, failure.Restate(err, failure.NotFound, "lipsync request not found")
	}
	return s.CancelByID(ctx, found.ID)
}
