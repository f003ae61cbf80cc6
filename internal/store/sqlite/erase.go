package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"lipsync/internal/domain/lipsync"
)

// batchKind is the kind under which days have the records of batches.
const batchKind lipsync.Kind = "batch"

// countRecord adds to the size of the account's records of the kind that were made on the day of the time at.
func countRecord(ctx context.Context, tx *sql.Tx, account string, kind lipsync.Kind, at time.Time, more int64) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO days (account, kind, day, requests, failed, length, size, records) VALUES (?, ?, ?, 0, 0, 0, 0, ?)
		ON CONFLICT DO UPDATE SET records = records + excluded.records`, account, kind, at.Unix()/secondsOfDay, more)
	return err
}

func (s requests) Erase(ctx context.Context, id string) error {
	return s.update(ctx, "erase", func(ctx context.Context, tx *sql.Tx) error {
		r, err := scanRequest(tx.QueryRowContext(ctx, "SELECT "+requestColumns+" FROM requests WHERE id = ?", id))
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err == nil {
			err = r.CheckErase()
		}
		if err == nil {
			err = countRecord(ctx, tx, r.Account, r.Kind, r.CreatedAt, -r.RecordSize())
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, "DELETE FROM requests WHERE id = ?", id)
		}
		return err
	})
}

// expirePage is the number of the oldest records at which one transaction of expire looks.
const expirePage = 1000

func (s requests) Expire(ctx context.Context, before time.Time) (int, error) {
	return s.expire(ctx, "expire_requests", "requests", before)
}

// expire deletes the records in the table that ended before the time, page by page of the oldest ones. A page that has none is the last one:
// a record ends soon after it was made, compared with the time for which it is kept. So no index is needed.
func (s *Store) expire(ctx context.Context, operation, table string, before time.Time) (expired int, err error) {
	const old = "FROM (SELECT rowid AS n, finished_at FROM %s ORDER BY rowid LIMIT ?1) WHERE finished_at > 0 AND finished_at < ?2"
	page := strings.Replace(old, "%s", table, 1)
	for {
		n, err := one(ctx, s, operation, scanValue[int], "SELECT count(*) "+page, expirePage, micros(before))
		if err != nil || n == 0 { // no write without need: the disk may be full
			return expired, err
		}
		if err := s.changeRow(ctx, operation, nil, "DELETE FROM "+table+" WHERE rowid IN (SELECT n "+page+")", expirePage, micros(before)); err != nil {
			return expired, err
		}
		expired += n
	}
}

func (s batches) Erase(ctx context.Context, id string) error {
	return s.update(ctx, "erase_batch", func(ctx context.Context, tx *sql.Tx) error {
		b, err := scanBatch(tx.QueryRowContext(ctx, "DELETE FROM batches WHERE id = ? AND finished_at > 0 RETURNING "+batchColumns, id))
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err == nil {
			err = countRecord(ctx, tx, b.Account, batchKind, b.CreatedAt, -b.RecordSize())
		}
		return err
	})
}

func (s batches) Expire(ctx context.Context, before time.Time) (int, error) {
	return s.expire(ctx, "expire_batches", "batches", before)
}
