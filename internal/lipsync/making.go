package lipsync

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"
)

const (
	// makeBatch is the number of requests of a batch that are made between two changes of its record: all at the same time, so that
	// they are made well within settle.
	makeBatch = sweepWorkers
	// settle is the time after which no process makes requests of a batch any more that was canceled.
	settle = 2 * time.Minute
	// callTime is the time after which the call has ended that makes a batch. Sweeps leave the lines of younger batches to it.
	callTime = 30 * time.Second
	// batchesBatch is the number of batches that one Sweep handles.
	batchesBatch = 1000
)

// sweepBatches makes the requests of batches that wait to be made, and finishes batches whose lines are final. It begins with a random
// batch, so that none keeps the sweeps from those behind it.
func (s *Service) sweepBatches(ctx context.Context, end time.Time) error {
	all, err := s.Store.Batches.Unfinished(ctx, batchesBatch)
	first := s.randomBelow(len(all))
	all = slices.Concat(all[first:], all[:first])
	return errors.Join(err, s.sweepAll(len(all), end, func(i int) error {
		if len(all[i].linesIn(LineWaiting)) > 0 && s.Now().Sub(all[i].CreatedAt) < callTime {
			return nil
		}
		return errors.Join(s.makeLines(ctx, &all[i], end), s.closeLines(ctx, &all[i], end))
	}))
}

// makeLines makes requests for the lines that wait, until the time end or until the account may have no more. It stops if another process
// changes the batch.
func (s *Service) makeLines(ctx context.Context, b *Batch, end time.Time) error {
	waiting := b.linesIn(LineWaiting)
	if len(waiting) == 0 || !b.CanceledAt.IsZero() {
		return nil
	}
	lines, err := s.readLines(ctx, *b)
	if CodeOf(err) == NotFound { // it waited for so long that they were deleted
		for _, n := range waiting {
			b.set(n, LineForgotten)
		}
		return unless(Conflict, s.swapBatch(ctx, b))
	}
	if err != nil {
		return err
	}
	for some := range slices.Chunk(waiting, makeBatch) {
		full, err := s.makeSome(ctx, b, some, lines, end)
		if err != nil || full || s.ended(end) {
			return unless(Conflict, err)
		}
	}
	return nil
}

// makeSome makes requests for some lines, and stores their states. full reports whether the account may have no more requests now.
func (s *Service) makeSome(ctx context.Context, b *Batch, some []int, lines []Variant, end time.Time) (full bool, err error) {
	states := make([]LineState, len(some))
	var noRoom atomic.Bool
	err = s.sweepAll(len(some), end, func(i int) (err error) {
		states[i], err = s.makeLine(ctx, *b, some[i], lines[some[i]])
		switch CodeOf(err) {
		case OpenLimit, StorageLimit, EventLimit, NoSpace, RateLimited:
			noRoom.Store(true)
			return nil
		default:
			return err
		}
	})
	before := b.Lines
	for i, n := range some {
		if states[i] != 0 {
			b.set(n, states[i])
		}
	}
	if b.Lines != before {
		err = errors.Join(s.swapBatch(ctx, b), err)
	}
	return noRoom.Load(), err
}

// makeLine makes the request of the line n, unless it exists already, and returns the line's state.
func (s *Service) makeLine(ctx context.Context, b Batch, n int, l Variant) (LineState, error) {
	id := b.RequestID(n)
	switch r, err := s.Store.Requests.ByID(ctx, id); CodeOf(err) {
	case "":
		return lineState(r), nil
	case NotFound:
	default:
		return 0, err
	}
	p := l.params()
	p.ID = id
	engine, err := s.check(p)
	if CodeOf(err) == Invalid { // the service has another set of engines now
		return LineUnoffered, nil
	}
	if err != nil {
		return 0, err
	}
	r, err := s.newRequest(ctx, Caller{Account: b.Account, KeyID: b.KeyID}, p, engine)
	if err == nil {
		err = s.room(0)
	}
	if err == nil {
		_, err = s.create(ctx, r, p)
	}
	switch CodeOf(err) {
	case "":
		return LineQueued, nil
	case TokenLimit:
		return LineOverLimit, nil
	case Invalid:
		return LineRefused, nil
	default:
		return 0, err
	}
}

// follow reads the requests of lines, sets the lines' states, and returns the requests that aren't final.
func (s *Service) follow(ctx context.Context, b *Batch, lines []int) (open []Request, err error) {
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
		b.set(line[r.ID], lineState(r))
		if !r.Status.Final() {
			open = append(open, r)
		}
	}
	return open, err
}

// closeLines stores the present states of the lines that aren't final. It cancels the requests of a canceled batch, until the time end. If all
// lines are final, it makes the batch final.
func (s *Service) closeLines(ctx context.Context, b *Batch, end time.Time) error {
	lines := b.linesIn(LineQueued, LineProcessing)
	if !b.CanceledAt.IsZero() { // requests that were made before may not be known
		lines = b.linesIn(LineWaiting, LineQueued, LineProcessing)
	}
	before := b.Lines
	open, err := s.follow(ctx, b, lines)
	if err != nil {
		return err
	}
	if !b.CanceledAt.IsZero() {
		err = s.cancelLines(ctx, b, open, end)
	}
	if b.final() {
		b.FinishedAt = s.Now().Truncate(time.Microsecond).UTC()
	}
	if b.Lines == before && b.FinishedAt.IsZero() {
		return err
	}
	if swapErr := s.swapBatch(ctx, b); swapErr != nil || b.FinishedAt.IsZero() {
		return errors.Join(err, unless(Conflict, swapErr))
	}
	s.announce(ctx, 0, b.News()...)
	return errors.Join(err, s.Objects.Delete(ctx, b.object()))
}

// cancelLines cancels the open requests of a canceled batch. Lines without a request are canceled when no other process can be making one.
func (s *Service) cancelLines(ctx context.Context, b *Batch, open []Request, end time.Time) error {
	ended := make([]bool, len(open))
	err := s.sweepAll(len(open), end, func(i int) error {
		_, err := s.cancel(ctx, open[i].ID)
		ended[i] = err == nil
		return unless(Finished, err)
	})
	line := make(map[string]int)
	for _, n := range b.linesIn(LineQueued, LineProcessing) {
		line[b.RequestID(n)] = n
	}
	for i, r := range open {
		if ended[i] {
			b.set(line[r.ID], LineCanceled)
		}
	}
	if s.Now().Sub(b.CanceledAt) >= settle {
		for _, n := range b.linesIn(LineWaiting) {
			b.set(n, LineDropped)
		}
	}
	return err
}
