package service

import (
	"context"
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
	made, err := s.madeByUnfinished(ctx, c.Account, s.Now().Add(eraseTime))
	if err == nil {
		err = s.erase(ctx, r, made)
	}
	return err
}

// madeByUnfinished returns the ids of the requests of batches that aren't finished, of which some may not be made yet. It returns Unfinished if it
// can't read all these batches until the time end.
func (s *Service) madeByUnfinished(ctx context.Context, account string, end time.Time) (map[string]bool, error) {
	open, all, err := s.UnfinishedOf(ctx, account, end)
	if err == nil && !all {
		err = failure.New(failure.Unfinished, "not all batches of the account could be read; try again later")
	}
	ids := make(map[string]bool)
	for _, b := range open {
		for n := range len(b.Lines) {
			ids[b.RequestID(n)] = true
		}
	}
	return ids, err
}

// erase does what Erase does. made has the ids of the requests of batches that aren't finished.
func (s *Service) erase(ctx context.Context, r lipsync.Request, made map[string]bool) error {
	if made[r.ID] { // the batch would make it again, or wait for its end
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

// EraseAll erases the caller's requests, analyses and estimates that are finished, and then the batches that are, all findings, and the calls that are noted. It stops after some
// seconds, and reports how many requests and batches it erased, and whether more may be left, such as a request that finished meanwhile; a batch that did so stays unnoticed. Requests that Erase refuses stay; if no others are left,
// EraseAll returns Unfinished. Several calls at once share the work; what two of them erase at the same time counts for both.
func (s *Service) EraseAll(ctx context.Context, c lipsync.Caller) (erased int, more bool, err error) {
	end := s.Now().Add(eraseTime)
	var lists []lipsync.PlaceQuery
	for _, kind := range lipsync.Kinds() {
		for _, status := range []lipsync.Status{lipsync.Completed, lipsync.Failed, lipsync.Canceled} {
			lists = append(lists, lipsync.PlaceQuery{Account: c.Account, Kind: kind, Status: status, Limit: sweepBatch})
		}
	}
	refused := false
	for _, list := range lists {
		n, some, err := s.eraseFound(ctx, list, end)
		erased, refused = erased+n, refused || some
		if err != nil {
			return erased, true, err
		}
	}
	if err := s.Objects.DeleteAll(ctx, lipsync.OwnFindings(c.Account)); err != nil {
		return erased, true, err
	}
	for more = true; more && !s.Over(end); {
		if more, err = s.Store.Calls.Erase(ctx, c.Account); err != nil {
			return erased, true, err
		}
	}
	n, err := s.eraseBatches(ctx, c.Account, end)
	erased, more = erased+n, more || s.Over(end)
	switch {
	case err != nil || more:
	case !refused:
		more, err = s.found(ctx, lists)
	default:
		err = failure.New(failure.Unfinished, "lipsync requests or batches that are not finished need the others; cancel them first, or wait for their end")
	}
	return erased, more || err != nil, err
}

// found reports whether a list has requests.
func (s *Service) found(ctx context.Context, lists []lipsync.PlaceQuery) (bool, error) {
	for _, list := range lists {
		page, next, err := s.Store.Requests.ListFrom(ctx, list)
		if err != nil || len(page) > 0 || next != "" {
			return true, err
		}
	}
	return false, nil
}

// eraseFound erases the requests that the query finds, until the time end. refused reports whether Erase refuses some.
func (s *Service) eraseFound(ctx context.Context, q lipsync.PlaceQuery, end time.Time) (erased int, refused bool, err error) {
	for !s.Over(end) {
		page, next, err := s.Store.Requests.ListFrom(ctx, q)
		if err != nil || len(page) == 0 && next == "" {
			return erased, refused, err
		}
		made, err := s.madeByUnfinished(ctx, q.Account, end) // read after the page, since a batch may begin at any time
		if s.Over(end) {
			break
		}
		if err != nil {
			return erased, refused, err
		}
		var gone atomic.Int64
		var stays atomic.Bool
		err = s.Each(len(page), end, func(i int) error {
			r, err := s.Store.Requests.ByID(ctx, page[i].ID) // the page lacks some fields
			if err == nil {
				err = s.erase(ctx, r, made)
			}
			switch failure.CodeOf(err) {
			case "":
				gone.Add(1)
			case failure.Unfinished:
				stays.Store(true)
				return nil
			}
			return failure.Unless(failure.NotFound, err) // NotFound: another call has erased it
		})
		erased, refused = erased+int(gone.Load()), refused || stays.Load()
		if q.Place = next; err != nil || next == "" {
			return erased, refused, err
		}
	}
	return erased, refused, nil
}

// eraseBatches deletes the account's finished batches until the time end.
func (s *Service) eraseBatches(ctx context.Context, account string, end time.Time) (int, error) {
	var gone atomic.Int64
	for last := (lipsync.Batch{}); !s.Over(end); {
		page, err := s.Store.Batches.List(ctx, account, last, sweepBatch)
		if err == nil && len(page) > 0 {
			err = s.Each(len(page), end, func(i int) error {
				if page[i].FinishedAt.IsZero() {
					return nil
				}
				gone.Add(1)
				return s.Store.Batches.Erase(ctx, page[i].ID)
			})
		}
		if err != nil || len(page) == 0 {
			return int(gone.Load()), err
		}
		last = page[len(page)-1]
	}
	return int(gone.Load()), nil
}
