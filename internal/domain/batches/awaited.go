package batches

import (
	"context"
	"slices"
	"sync"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// Awaited tells which uploads the lines need that wait for their requests.
type Awaited struct {
	s       *Service
	end     time.Time                  // no lines are read after it
	batches map[string][]lipsync.Batch // those with such lines, by account

	mu  sync.Mutex                 // held while lines are read, since they may be large
	ids map[string]map[string]bool // of the uploads, by account, as Need has read them; nil if it can't tell
}

// newAwaited returns an Awaited of batches, which are grouped by their accounts. It reads lines until the time end.
func (s *Service) newAwaited(accounts [][]lipsync.Batch, end time.Time) *Awaited {
	a := &Awaited{s: s, end: end, batches: make(map[string][]lipsync.Batch), ids: make(map[string]map[string]bool)}
	for _, b := range slices.Concat(accounts...) {
		if b.CanceledAt.IsZero() && len(linesIn(b.Lines, lipsync.LineWaiting)) > 0 {
			a.batches[b.Account] = append(a.batches[b.Account], b)
		}
	}
	return a
}

// AwaitedOf returns an Awaited of the batches of an account. It reads batches and lines for the time makeTime.
func (s *Service) AwaitedOf(ctx context.Context, account string) (*Awaited, error) {
	end := s.Now().Add(makeTime)
	batches, all, err := s.UnfinishedOf(ctx, account, end)
	a := s.newAwaited([][]lipsync.Batch{batches}, end)
	if !all {
		a.batches[account], a.ids[account] = batches, nil
	}
	return a, err
}

// UnfinishedOf returns the account's batches that aren't finished. It reads until the time end. all is false if some may be missing: there was no
// time, or the list lacks the last changes.
func (s *Service) UnfinishedOf(ctx context.Context, account string, end time.Time) (batches []lipsync.Batch, all bool, err error) {
	left, err := s.Store.Batches.Count(ctx, account)
	var page []lipsync.Batch
	for err == nil && left > 0 && !s.Over(end) {
		var last lipsync.Batch
		if len(page) > 0 {
			last = page[len(page)-1]
		}
		if page, err = s.Store.Batches.List(ctx, account, last, batchesPage); len(page) == 0 {
			break
		}
		for _, b := range page {
			if b.FinishedAt.IsZero() {
				batches, left = append(batches, b), left-1
			}
		}
	}
	return batches, left <= 0 && err == nil, err
}

// Need reports whether a line may need the upload. It reads the lines of an account once. If there is no time for that, or if it fails, a line may
// need each upload of the account.
func (a *Awaited) Need(ctx context.Context, u lipsync.Upload) (_ bool, err error) {
	batches, some := a.batches[u.Account]
	if !some { // it doesn't wait for those of others
		return false, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	ids, known := a.ids[u.Account]
	if !known {
		ids, err = a.read(ctx, batches)
		a.ids[u.Account] = ids
	}
	return ids == nil || ids[u.ID], err
}

// read returns the ids of the uploads that waiting lines of the batches name, or nil if there is no time to read them all.
func (a *Awaited) read(ctx context.Context, batches []lipsync.Batch) (map[string]bool, error) {
	ids := make(map[string]bool)
	for _, b := range batches {
		if a.s.Over(a.end) {
			return nil, nil
		}
		lines, err := a.s.readLines(ctx, b)
		if failure.CodeOf(err) == failure.NotFound { // no request can be made
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, n := range linesIn(b.Lines, lipsync.LineWaiting) {
			for _, id := range lines[n].params().UploadIDs() {
				ids[id] = true
			}
		}
	}
	return ids, nil
}
