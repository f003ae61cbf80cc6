package batches

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

const (
	// linesAtOnce is the number of requests of a batch that are made between two changes of its record: all at the same time, so that
	// they are made well within settle.
	linesAtOnce = base.AtOnce
	// settle is the time after which no process makes requests of a batch any more that was canceled, or whose key was revoked or expired.
	settle = 2 * time.Minute
	// callTime is the time after which the call has ended that makes a batch, on any host's clock. Sweeps leave the lines of younger batches
	// to it.
	callTime = batchTime + 10*time.Second
	// batchesTime is the time for which a sweep reads batches, then handles them, and then reads lines that wait, so that time is left for uploads.
	batchesTime = 7500 * time.Millisecond
	// batchesPage is the number of batches that a sweep reads in one call of the store.
	batchesPage = 1000
)

// SweepBatches makes the requests of unfinished batches that wait to be made, and finishes batches whose lines are final. It does several
// accounts at a time and begins with a random one, so that an account with many batches doesn't keep the sweeps from those behind it.
// SweepBatches returns which uploads lines wait to use, or nil if it had no time to learn that.
func (s *Service) SweepBatches(ctx context.Context, end time.Time) (*Awaited, error) {
	accounts, all, err := s.UnfinishedBatches(ctx, s.Now().Add(batchesTime))
	if latest := s.Now().Add(batchesTime); latest.Before(end) {
		end = latest
	}
	first := s.RandomBelow(len(accounts))
	err = errors.Join(err, s.Each(len(accounts), end, func(i int) error {
		return s.sweepBatchesOf(ctx, accounts[(first+i)%len(accounts)], end)
	}))
	if !all {
		return nil, err
	}
	return s.newAwaited(accounts, s.Now().Add(batchesTime)), err
}

// UnfinishedBatches returns the batches that aren't finished, oldest first, by their accounts. It reads no more of them after the time end. all is false if
// some may be missing.
func (s *Service) UnfinishedBatches(ctx context.Context, end time.Time) (accounts [][]lipsync.Batch, all bool, err error) {
	known := make(map[string]int)
	var last lipsync.Batch
	for !s.Over(end) {
		page, err := s.Store.Batches.Unfinished(ctx, last, batchesPage)
		if err != nil || len(page) == 0 {
			return accounts, err == nil, err
		}
		for _, b := range page {
			n, ok := known[b.Account]
			if !ok {
				n = len(accounts)
				known[b.Account], accounts = n, append(accounts, nil)
			}
			accounts[n] = append(accounts[n], b)
		}
		last = page[len(page)-1]
	}
	return accounts, false, nil
}

// sweepBatchesOf handles the unfinished batches of one account, oldest first. When the account may have no more requests, it doesn't try
// those of further batches.
func (s *Service) sweepBatchesOf(ctx context.Context, all []lipsync.Batch, end time.Time) error {
	ended, err := s.endedKeys(ctx, all)
	if err != nil {
		return err
	}
	var errs []error
	full := false
	for i := range all {
		b, waiting := &all[i], len(linesIn(all[i].Lines, lipsync.LineWaiting)) > 0
		if s.Over(end) {
			break
		}
		if waiting && s.Now().Sub(b.CreatedAt) < callTime {
			continue
		}
		var err error
		switch {
		case waiting && !ended[b.KeyID].IsZero():
			if s.Now().Sub(ended[b.KeyID]) >= settle {
				err = s.refuseWaiting(ctx, b, lipsync.LineRevoked)
			}
		case waiting && !full:
			full, err = s.makeLines(ctx, b, end)
		}
		errs = append(errs, err, s.closeLines(ctx, b, end))
	}
	return errors.Join(errs...)
}

// endedKeys returns the times at which the keys of an account were revoked or expired, by their ids; zero for the others. All are batches of that
// account. If none of their lines waits for its request, endedKeys returns no times.
func (s *Service) endedKeys(ctx context.Context, all []lipsync.Batch) (map[string]time.Time, error) {
	if !slices.ContainsFunc(all, func(b lipsync.Batch) bool { return b.KeyID != "" && len(linesIn(b.Lines, lipsync.LineWaiting)) > 0 }) {
		return nil, nil
	}
	keys, err := s.Store.Keys.List(ctx, all[0].Account)
	ended, now := make(map[string]time.Time), s.Now()
	for _, k := range keys {
		ended[k.ID] = k.Ended(now)
	}
	return ended, err
}

// refuseWaiting gives the lines that wait and have no request a state in which none is made.
func (s *Service) refuseWaiting(ctx context.Context, b *lipsync.Batch, state lipsync.LineState) error {
	if !b.CanceledAt.IsZero() { // requests that another process makes now are canceled too
		return nil
	}
	if _, err := s.follow(ctx, b, linesIn(b.Lines, lipsync.LineWaiting)); err != nil { // a process may have died before it noted that it made some
		return err
	}
	for _, n := range linesIn(b.Lines, lipsync.LineWaiting) {
		setLine(b, n, state)
	}
	return failure.Unless(failure.Conflict, s.swapBatch(ctx, b))
}

// makeLines makes requests for the lines that wait, until the time end or until the account may have no more, which full reports. It stops if
// another process changes the batch. It makes the others even if one fails.
func (s *Service) makeLines(ctx context.Context, b *lipsync.Batch, end time.Time) (full bool, err error) {
	waiting := linesIn(b.Lines, lipsync.LineWaiting)
	if len(waiting) == 0 || !b.CanceledAt.IsZero() {
		return false, nil
	}
	lines, err := s.readLines(ctx, *b)
	if failure.CodeOf(err) == failure.NotFound { // it waited for so long that they were deleted
		return false, s.refuseWaiting(ctx, b, lipsync.LineForgotten)
	}
	if err != nil {
		return false, err
	}
	// The first one tells whether the account is full, before others are tried.
	parts := append([][]int{waiting[:1]}, slices.Collect(slices.Chunk(waiting[1:], linesAtOnce))...)
	var errs []error
	for _, some := range parts {
		before := b.Lines
		full, err := s.makeSome(ctx, b, some, lines, end)
		errs = append(errs, err)
		if b.Lines != before {
			if err := s.swapBatch(ctx, b); err != nil {
				return full, errors.Join(append(errs, failure.Unless(failure.Conflict, err))...)
			}
		}
		if full || s.Over(end) {
			return full, errors.Join(errs...)
		}
	}
	return false, errors.Join(errs...)
}

// makeSome makes requests for some lines, and sets their states. full reports whether the account may have no more requests now.
func (s *Service) makeSome(ctx context.Context, b *lipsync.Batch, some []int, lines []Variant, end time.Time) (full bool, err error) {
	states := make([]lipsync.LineState, len(some))
	var noRoom atomic.Bool
	err = s.Each(len(some), end, func(i int) (err error) {
		states[i], err = s.makeLine(ctx, *b, some[i], lines[some[i]])
		switch failure.CodeOf(err) {
		case failure.OpenLimit, failure.StorageLimit, failure.EventLimit, failure.NoSpace, failure.RateLimited:
			noRoom.Store(true)
			return nil
		default:
			return err
		}
	})
	for i, n := range some {
		if states[i] != 0 {
			setLine(b, n, states[i])
		}
	}
	return noRoom.Load(), err
}

// makeLine makes the request of the line n, unless it exists already, and returns the line's state.
func (s *Service) makeLine(ctx context.Context, b lipsync.Batch, n int, l Variant) (lipsync.LineState, error) {
	p := l.params()
	p.ID, p.Video.Kept, p.Audios[0].Kept = b.RequestID(n), true, true
	made, err := s.Store.Requests.ByID(ctx, p.ID)
	if err == nil {
		return lineState(made), nil
	}
	if failure.CodeOf(err) != failure.NotFound {
		return 0, err
	}
	engine, err := s.CheckParams(p)
	if failure.CodeOf(err) == failure.Invalid { // the service has another set of engines now
		return lipsync.LineUnoffered, nil
	}
	if err == nil {
		err = s.Make(ctx, lipsync.Caller{Account: b.Account, KeyID: b.KeyID, CallID: b.CallID}, p, engine)
	}
	if err == nil {
		return lipsync.LineQueued, nil
	}
	if made, readErr := s.Store.Requests.ByID(ctx, p.ID); readErr == nil { // another process made it at the same time
		return lineState(made), nil
	}
	switch failure.CodeOf(err) {
	case failure.TokenLimit:
		return lipsync.LineOverLimit, nil
	case failure.Invalid:
		return lipsync.LineRefused, nil
	default:
		return 0, err
	}
}

// follow reads the requests of lines, sets the lines' states, and returns the lines with a request that isn't final.
func (s *Service) follow(ctx context.Context, b *lipsync.Batch, lines []int) (open []int, err error) {
	line := make(map[string]int)
	var ids []string
	for _, n := range lines {
		line[b.RequestID(n)] = n
		ids = append(ids, b.RequestID(n))
	}
	if len(ids) == 0 {
		return nil, nil
	}
	requests, err := s.Store.Requests.Several(ctx, ids)
	for _, r := range requests {
		setLine(b, line[r.ID], lineState(r))
		if !r.Status.Final() {
			open = append(open, line[r.ID])
		}
	}
	return open, err
}

// closeLines stores the present states of the lines that aren't final. It cancels the requests of a canceled batch, until the time end. If all
// lines are final, it makes the batch final.
func (s *Service) closeLines(ctx context.Context, b *lipsync.Batch, end time.Time) error {
	lines := linesIn(b.Lines, lipsync.LineQueued, lipsync.LineProcessing)
	if !b.CanceledAt.IsZero() { // requests that were made before may not be known
		lines = linesIn(b.Lines, lipsync.LineWaiting, lipsync.LineQueued, lipsync.LineProcessing)
	}
	before := b.Lines
	open, err := s.follow(ctx, b, lines)
	if err != nil {
		return err
	}
	if !b.CanceledAt.IsZero() {
		err = s.cancelLines(ctx, b, open, end)
	}
	if b.Final() {
		b.FinishedAt = lipsync.StoredTime(s.Now())
	}
	if b.Lines == before && b.FinishedAt.IsZero() {
		return err
	}
	if swapErr := s.swapBatch(ctx, b); swapErr != nil || b.FinishedAt.IsZero() {
		return errors.Join(err, failure.Unless(failure.Conflict, swapErr))
	}
	s.Announce(ctx, 0, b.News()...)
	return errors.Join(err, s.Objects.Delete(ctx, b.Object()))
}

// cancelLines cancels the requests of the lines open of a canceled batch. Lines without a request are canceled when no other process can be making one.
func (s *Service) cancelLines(ctx context.Context, b *lipsync.Batch, open []int, end time.Time) error {
	ended := make([]bool, len(open))
	err := s.Each(len(open), end, func(i int) error {
		_, err := s.CancelByID(ctx, b.RequestID(open[i]))
		ended[i] = err == nil
		return failure.Unless(failure.Finished, err)
	})
	for i, n := range open {
		if ended[i] {
			setLine(b, n, lipsync.LineCanceled)
		}
	}
	if s.Now().Sub(b.CanceledAt) >= settle {
		for _, n := range linesIn(b.Lines, lipsync.LineWaiting) {
			setLine(b, n, lipsync.LineDropped)
		}
	}
	return err
}

// lineState returns the state of a line with the request.
func lineState(r lipsync.Request) lipsync.LineState {
	switch {
	case r.Status == lipsync.Queued:
		return lipsync.LineQueued
	case r.Status == lipsync.Processing:
		return lipsync.LineProcessing
	case r.Status == lipsync.Completed:
		return lipsync.LineCompleted
	case r.Failed():
		return lipsync.LineFailed
	default:
		return lipsync.LineCanceled
	}
}

// setLine sets the state of the line n.
func setLine(b *lipsync.Batch, n int, s lipsync.LineState) {
	lines := []byte(b.Lines)
	lines[n] = byte(s)
	b.Lines = string(lines)
}

// linesIn returns the numbers of the lines of a batch whose states are one of these.
func linesIn(lines string, states ...lipsync.LineState) (some []int) {
	for n := range len(lines) {
		if slices.Contains(states, lipsync.LineState(lines[n])) {
			some = append(some, n)
		}
	}
	return some
}
