package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"lipsync/internal/lipsync"
)

// claimable holds for open requests that nobody holds at the given time.
const claimable = "status IN ('queued', 'processing') AND lease_until <= ?"

// What a request has that nobody holds.
const (
	noProgress = "stage = '', percent = 0, ends = 0"
	unheld     = "lease = '', " + noProgress
	idle       = "lease_until = 0, " + unheld
)

func lost() error { return refusal(lipsync.Conflict, "lease lost") }

// Claim implements lipsync.Leases.
func (s *Store) Claim(ctx context.Context, id, token string, now time.Time, lease time.Duration) (lipsync.Request, error) {
	which, args := "n = (SELECT n FROM requests WHERE "+claimable+" ORDER BY n LIMIT 1)", []any{micros(now)}
	if id != "" {
		which, args = "id = ? AND "+claimable, []any{id, micros(now)}
	}
	set := []any{micros(now), token, micros(now.Add(lease))}
	var r lipsync.Request
	err := s.update(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		r, err = scanRequest(tx.QueryRowContext(ctx, `UPDATE requests SET status = 'processing',
				claims = claims + 1, attempts = attempts + 1,
				started_at = iif(started_at = 0, ?, started_at), lease = ?, lease_until = ?, `+noProgress+`
			WHERE `+which+" RETURNING "+requestColumns, append(set, args...)...))
		return err
	})
	return r, err
}

// Renew implements lipsync.Leases.
func (s *Store) Renew(ctx context.Context, id, token string, until time.Time) error {
	return s.changeRow(ctx, lost(), "UPDATE requests SET lease_until = ? WHERE id = ? AND lease = ? AND lease <> ''",
		micros(until), id, token)
}

// Report implements lipsync.Leases.
func (s *Store) Report(ctx context.Context, id, token string, p lipsync.Progress) error {
	return s.changeRow(ctx, lost(), `UPDATE requests SET stage = ?, percent = ?, ends = ?
		WHERE id = ? AND lease = ? AND lease <> ''`, p.Stage, p.Percent, micros(p.Ends), id, token)
}

// Release implements lipsync.Leases.
func (s *Store) Release(ctx context.Context, id, token string) error {
	return s.changeRow(ctx, lost(), "UPDATE requests SET "+idle+`, attempts = attempts - 1
		WHERE id = ? AND lease = ? AND lease <> ''`, id, token)
}

// Postpone implements lipsync.Leases.
func (s *Store) Postpone(ctx context.Context, r lipsync.Request, until time.Time) error {
	return s.changeRow(ctx, lost(), "UPDATE requests SET "+unheld+`, lease_until = ?, attempts = ?, delays = ?, delayed_since = ?
		WHERE id = ? AND lease = ? AND lease <> ''`,
		micros(until), r.Attempts, r.Delays, micros(r.DelayedSince), r.ID, r.Lease)
}

// Finish implements lipsync.Leases.
func (s *Store) Finish(ctx context.Context, id, token string, now time.Time, o lipsync.Outcome) error {
	var r lipsync.Request
	r.End(now, o)
	return s.update(ctx, func(ctx context.Context, tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, "UPDATE requests SET "+idle+`, status = ?, finished_at = ?, output = ?, length = ?,
				failure = ?, failure_details = ?
			WHERE id = ? AND lease = ? AND lease <> '' RETURNING key_id`,
			r.Status, micros(r.FinishedAt), r.Output, r.Length.Microseconds(), r.Failure.Code, r.Failure.Text(), id, token).Scan(&r.KeyID)
		if errors.Is(err, sql.ErrNoRows) {
			return lost()
		}
		if err == nil && o.Free() {
			_, err = tx.ExecContext(ctx, "UPDATE keys SET used = used - 1 WHERE id = ?", r.KeyID)
		}
		return err
	})
}

// Cancel implements lipsync.Leases.
func (s *Store) Cancel(ctx context.Context, id string, now time.Time, f lipsync.Failure) (r lipsync.Request, err error) {
	err = s.update(ctx, func(ctx context.Context, tx *sql.Tx) error {
		r, err = scanRequest(tx.QueryRowContext(ctx, "UPDATE requests SET "+idle+`, status = 'failed', failure = ?, failure_details = ?, finished_at = ?,
				started_at = iif(started_at = 0, ?, started_at)
			WHERE id = ? AND status IN ('queued', 'processing') RETURNING `+requestColumns,
			f.Code, f.Text(), micros(now), micros(now), id))
		if lipsync.CodeOf(err) != lipsync.NotFound {
			return err
		}
		if _, err := scanRequest(tx.QueryRowContext(ctx, "SELECT "+requestColumns+" FROM requests WHERE id = ?", id)); err != nil {
			return err
		}
		return refusal(lipsync.Conflict, "request is final")
	})
	return r, err
}

// Open implements lipsync.Leases.
func (s *Store) Open(ctx context.Context, now time.Time, limit int) ([]lipsync.Request, error) {
	return s.requests(ctx, "WHERE "+claimable+" ORDER BY n LIMIT ?", micros(now), limit)
}
