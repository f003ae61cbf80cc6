package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

type batches struct{ *Store }

const batchColumns = "id, account, key_id, call_id, lines, targets, fingerprint, created_at, canceled_at, finished_at, version"

func scanBatch(row row) (b lipsync.Batch, err error) {
	var sum []byte
	err = row.Scan(&b.ID, &b.Account, &b.KeyID, &b.CallID, &b.Lines, asText(&b.Targets, lipsync.ParseTargets), &sum,
		instant{&b.CreatedAt}, instant{&b.CanceledAt}, instant{&b.FinishedAt}, &b.Version)
	copy(b.Fingerprint[:], sum)
	return b, err
}

func (s batches) Create(ctx context.Context, b lipsync.Batch, limits lipsync.Limits) error {
	return s.update(ctx, "create_batch", func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, "INSERT INTO batches ("+batchColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
			b.ID, b.Account, b.KeyID, b.CallID, b.Lines, b.Targets.Text(), b.Fingerprint[:], micros(b.CreatedAt), micros(b.CanceledAt), micros(b.FinishedAt), b.Version)
		err = changed(result, err, failure.New(failure.Conflict, "the batch is there"))
		if err == nil && limits.Batches > 0 {
			var unfinished int
			err = tx.QueryRowContext(ctx, unfinishedOfAccount, b.Account).Scan(&unfinished)
			if err == nil && unfinished > limits.Batches {
				err = failure.New(failure.BatchLimit, "too many unfinished batches")
			}
		}
		if err == nil {
			err = countRecord(ctx, tx, b.Account, batchKind, b.CreatedAt, b.RecordSize())
		}
		return err
	})
}

// unfinishedOfAccount counts the batches of an account that aren't finished. The limit keeps their number small.
const unfinishedOfAccount = "SELECT count(*) FROM batches INDEXED BY batches_unfinished WHERE account = ? AND finished_at = 0"

func (s batches) ByID(ctx context.Context, id string) (lipsync.Batch, error) {
	return one(ctx, s.Store, "batch", scanBatch, "SELECT "+batchColumns+" FROM batches WHERE id = ?", id)
}

func (s batches) Swap(ctx context.Context, b lipsync.Batch) error {
	return s.update(ctx, "swap_batch", func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `UPDATE batches SET lines = ?, canceled_at = ?, finished_at = ?, version = version + 1
			WHERE id = ? AND version = ?`, b.Lines, micros(b.CanceledAt), micros(b.FinishedAt), b.ID, b.Version)
		if err := changed(result, err, failure.New(failure.Conflict, "batch was changed")); err != nil {
			return err
		}
		return addDeliveries(ctx, tx, b.News())
	})
}

func (s batches) List(ctx context.Context, account string, before lipsync.Batch, limit int) ([]lipsync.Batch, error) {
	return many(ctx, s.Store, "list_batches", scanBatch, "SELECT "+batchColumns+` FROM batches
		WHERE account = ?1 AND (?3 = '' OR (created_at, id) < (?2, ?3)) ORDER BY created_at DESC, id DESC LIMIT ?4`,
		account, micros(before.CreatedAt), before.ID, limit)
}

func (s batches) Unfinished(ctx context.Context, after lipsync.Batch, limit int) ([]lipsync.Batch, error) {
	return many(ctx, s.Store, "unfinished_batches", scanBatch, "SELECT "+batchColumns+` FROM batches
		WHERE finished_at = 0 AND (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ?`, micros(after.CreatedAt), after.ID, limit)
}

func (s batches) Count(ctx context.Context, account string) (int, error) {
	return one(ctx, s.Store, "count_batches", scanValue[int], unfinishedOfAccount, account)
}

func (s requests) Several(ctx context.Context, ids []string) ([]lipsync.Request, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	return s.selectListed(ctx, "several", "WHERE id IN (SELECT value FROM json_each(?))", string(list))
}
