package service

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// eraseTime is the time after which a call of EraseAll begins no page of records. A function of the API has 29 seconds.
const eraseTime = 10 * time.Second

// Erase deletes the media of the caller's request as DeleteMedia does, and then its record. The id may also be that of an analysis or an estimate,
// whose uploads stay. Erase deletes nothing and returns Unfinished in the cases of DeleteMedia, and if a batch that isn't finished made the request. After an error it may be
// repeated; after success it returns NotFound.
func (s *Service) Erase(ctx context.Context, c lipsync.Caller, idOrReference string) error {
	r, err := s.find(ctx, c.Account, idOrReference)
	for _, kind := range []lipsync.Kind{lipsync.ToAnalyze, lipsync.ToEstimate} {
		if failure.CodeOf(err) == failure.NotFound {
			r, err = s.findOf(ctx, c.Account, kind, idOrReference, "lipsync request not found")
		}
	}
	if err != nil {
		return err
	}
	open, all, err := s.UnfinishedOf(ctx, c.Account)
	if err == nil {
		err = s.erase(ctx, r, open, all)
	}
	return err
}

// erase does what Erase does. The batches are those of the account that aren't finished, and all is false if some may be missing.
func (s *Service) erase(ctx context.Context, r lipsync.Request, batches []lipsync.Batch, all bool) error {
	if !all || slices.ContainsFunc(batches, func(b lipsync.Batch) bool { return b.Made(r.ID) }) { // which would make it again, or wait for its end
		return failure.New(failure.Unfinished, "the batch of the lipsync request is not finished; cancel it first, or wait for its end")
	}
	forget := s.deleteMedia
	if r.Kind != lipsync.ToRender && r.Status.Final() { // its uploads may be meant for a request
		forget = s.forget
	}
	if _, err := forget(ctx, r); err != nil {
		return err
	}
	return s.Store.Requests.Erase(context.WithoutCancel(ctx), r.ID)
}

// EraseAll erases the caller's requests, analyses and estimates that are finished, and then the batches that are, and all findings. It stops after some
// seconds, and reports how many requests it erased, and whether more may be left. Requests that Erase refuses stay; if no others are left,
// EraseAll returns Unfinished.
func (s *Service) EraseAll(ctx context.Context, c lipsync.Caller) (erased int, more bool, err error) {
	end := s.Now().Add(eraseTime)
	open, all, err := s.UnfinishedOf(ctx, c.Account)
	for err == nil && !s.Over(end) {
		ids, err := s.Store.Requests.Final(ctx, c.Account, sweepBatch)
		if err != nil {
			return erased, true, err
		}
		if len(ids) == 0 {
			return erased, false, s.eraseRest(ctx, c)
		}
		var done, refused atomic.Int64
		err = s.Each(len(ids), end, func(i int) error {
			r, err := s.Store.Requests.ByID(ctx, ids[i])
			if err == nil {
				err = s.erase(ctx, r, open, all)
			}
			switch failure.CodeOf(err) {
			case "":
				done.Add(1)
			case failure.Unfinished:
				refused.Add(1)
				return nil
			}
			return failure.Unless(failure.NotFound, err) // NotFound: another call has erased it
		})
		erased += int(done.Load())
		if err != nil {
			return erased, true, err
		}
		if done.Load() == 0 && refused.Load() > 0 {
			return erased, true, failure.New(failure.Unfinished, "lipsync requests or batches that are not finished need the others; cancel them first, or wait for their end")
		}
	}
	return erased, true, err
}

// eraseRest deletes what an account has beside requests: finished batches and findings.
func (s *Service) eraseRest(ctx context.Context, c lipsync.Caller) error {
	if err := s.Objects.DeleteAll(ctx, ownFindings(c.Account)); err != nil {
		return err
	}
	for last := (lipsync.Batch{}); ; {
		page, err := s.Store.Batches.List(ctx, c.Account, last, sweepBatch)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, b := range page {
			if b.FinishedAt.IsZero() {
				continue
			}
			if err := s.Store.Batches.Erase(ctx, b.ID); err != nil {
				return err
			}
		}
		last = page[len(page)-1]
	}
}
