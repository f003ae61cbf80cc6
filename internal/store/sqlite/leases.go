package sqlite

import (
	"context"
	"database/sql"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

type leases struct{ *Store }

// isOpen selects requests that are not final. claimable selects the open requests that no worker
// holds at the time ?1.
const (
	isOpen    = "status IN ('queued', 'processing')"
	claimable = isOpen + " AND lease_until <= ?1"
)

// waiting has the accounts with open requests, and the kinds of these. It goes from one to the next by an index, in which SQLite also
// looks for the kind only because of the plus: a column of text is not compared by an index with another one.
const waiting = `WITH RECURSIVE waiting (account, kind) AS (
		SELECT * FROM (SELECT account, kind FROM requests INDEXED BY requests_open_of_account WHERE ` + isOpen + `
			ORDER BY account, kind LIMIT 1)
		UNION ALL
		SELECT r.account, r.kind FROM waiting CROSS JOIN requests r ON r.n = (
			SELECT n FROM requests INDEXED BY requests_open_of_account WHERE ` + isOpen + `
			AND (account, kind) > (waiting.account, +waiting.kind) ORDER BY account, kind LIMIT 1)
	)`

// noteClaim stores the time of the last claim of a request like r, which was claimed now.
func noteClaim(ctx context.Context, tx *sql.Tx, r lipsync.Request, now time.Time) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO claimed (account, kind, at) VALUES (?1, ?2, ?3)
		ON CONFLICT DO UPDATE SET at = ?3`, r.Account, r.Kind, micros(now))
	return err
}

func (s leases) Claim(ctx context.Context, id, token string, now time.Time, lease time.Duration, from lipsync.Choice) (r lipsync.Request, err error) {
	err = s.update(ctx, "claim", func(ctx context.Context, tx *sql.Tx) (err error) {
		chosen := id
		if chosen == "" {
			chosen, err = next(ctx, tx, now, from)
		}
		if err == nil {
			r, err = change(ctx, tx, chosen, func(r lipsync.Request) (lipsync.Request, error) { return r.Claimed(token, now, lease) })
		}
		if err != nil {
			return explain(err)
		}
		return noteClaim(ctx, tx, r, now)
	})
	return r, err
}

// next returns the id of the request to claim. The cost grows with the number of accounts with open
// requests and of leases, and not with the number of waiting requests. For some classes it also grows with the number of others before them.
func next(ctx context.Context, tx *sql.Tx, now time.Time, from lipsync.Choice) (id string, err error) {
	all, err := standings(ctx, tx, now, 1, from.Duty.Classes())
	if err != nil {
		return "", err
	}
	i, ok := lipsync.Turn(all, from.Except...)
	if !ok {
		return "", failure.New(failure.NotFound, "not found")
	}
	err = tx.QueryRowContext(ctx, "SELECT id FROM requests WHERE n = ?", all[i].Oldest).Scan(&id)
	return id, explain(err)
}

func (s leases) Renew(ctx context.Context, id, token string, until time.Time) error {
	return s.changeRow(ctx, "renew", lipsync.ErrLost, "UPDATE requests SET lease_until = ? WHERE id = ? AND lease = ? AND lease <> ''",
		micros(until), id, token)
}

func (s leases) Report(ctx context.Context, id, token string, p lipsync.Progress) error {
	return s.changeRow(ctx, "report", lipsync.ErrLost, `UPDATE requests SET stage = ?, percent = ?, ends = ?
		WHERE id = ? AND lease = ? AND lease <> ''`, p.Stage, p.Percent, micros(p.Ends), id, token)
}

func (s leases) NoteVideo(ctx context.Context, id, token string, sum [32]byte) error {
	return s.changeRow(ctx, "note_video", lipsync.ErrLost, "UPDATE requests SET video_sum = ? WHERE id = ? AND lease = ? AND lease <> ''", sum[:], id, token)
}

// postponed selects the requests that are postponed until a time after ?1.
const postponed = "WHERE lease = '' AND lease_until > 0 AND lease_until > ?1 ORDER BY lease_until, n LIMIT ?2"

func (s leases) Postponed(ctx context.Context, after time.Time, limit int) ([]lipsync.Request, error) {
	return s.selectRequests(ctx, "put_off", postponed, micros(after), limit)
}

// Upkeep does nothing. In SQLite, claims leave no work for later.
func (s leases) Upkeep(context.Context, time.Time) error { return nil }

func (s leases) Open(ctx context.Context, now time.Time, limit int) ([]lipsync.Request, error) {
	return s.selectRequests(ctx, "open", "WHERE "+claimable+" ORDER BY n LIMIT ?2", micros(now), limit)
}
