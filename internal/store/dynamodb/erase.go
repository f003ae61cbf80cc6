package dynamodb

import (
	"context"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/store/dynamodb/queue"
	"lipsync/internal/store/dynamodb/table"
)

// Erase deletes the record. The lists of the account keep the id, which is a random number.
func (s requests) Erase(ctx context.Context, id string) error {
	return table.RetryConflicts(ctx, func(int) error {
		r, err := s.request(ctx, id)
		if err == nil {
			err = r.CheckErase()
		}
		if err != nil {
			return failure.Unless(failure.NotFound, err)
		}
		gone := s.table.DeleteStep(requestKey(id), "attribute_exists(#pk)", table.Conflict{})
		return s.table.Transact(ctx, []table.Step{gone, s.table.DeleteStep(queue.EntryKey(id), "", nil), s.countRecord(r.Account, r.ID, r.CreatedAt, -r.RecordSize())})
	})
}

// Expire does nothing. Records have a TimeToLive.
func (s requests) Expire(context.Context, time.Time) (int, error) { return 0, nil }

func (s batches) Erase(ctx context.Context, id string) error {
	return table.RetryConflicts(ctx, func(int) error {
		b, err := s.ByID(ctx, id)
		if err != nil || b.FinishedAt.IsZero() {
			return failure.Unless(failure.NotFound, err)
		}
		gone := s.table.DeleteStep(batchKey(id), "attribute_exists(#pk)", table.Conflict{})
		return s.table.Transact(ctx, []table.Step{gone, s.countRecord(b.Account, id, b.CreatedAt, -b.RecordSize())})
	})
}

// Expire does nothing. Records have a TimeToLive.
func (s batches) Expire(context.Context, time.Time) (int, error) { return 0, nil }
