package service

import (
	"context"
	"math"
	"slices"

	"lipsync/internal/domain/lipsync"
)

// Ended counts what EndAll ended.
type Ended struct{ Webhooks, Requests, Batches int }

// EndAll deletes all webhooks, and cancels all requests and batches that aren't finished. A service with this store then sends nothing to any client, and renders no
// earlier request. EndAll is for a copy of a store that no other process uses. It deletes no media: Tidy does.
func (s *Service) EndAll(ctx context.Context) (e Ended, err error) {
	accounts, err := s.Store.Webhooks.All(ctx)
	if err != nil {
		return e, err
	}
	for _, a := range accounts { // first, since they would get the events of the others
		e.Webhooks += len(a.List)
		a.List = nil
		if err := s.Store.Webhooks.Put(ctx, a); err != nil {
			return e, err
		}
	}
	open, err := s.Store.Leases.Open(ctx, s.Ever(), math.MaxInt)
	if err != nil {
		return e, err
	}
	for _, r := range open {
		cancel := func(r lipsync.Request) (lipsync.Request, error) { return r.Canceled(s.Now()) }
		if _, err := s.Store.Leases.Change(ctx, r.ID, cancel); err != nil {
			return e, err
		}
		e.Requests++
	}
	batches, _, err := s.UnfinishedBatches(ctx, s.Ever())
	if err != nil {
		return e, err
	}
	for _, b := range slices.Concat(batches...) {
		if !b.CanceledAt.IsZero() {
			continue
		}
		b.CanceledAt = s.Now()
		if err := s.Store.Batches.Swap(ctx, b); err != nil {
			return e, err
		}
		e.Batches++
	}
	return e, nil
}
