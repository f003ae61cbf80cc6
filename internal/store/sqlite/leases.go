package sqlite

import (
	"context"
	"database/sql"
	"time"

	"lipsync/internal/domain/lipsync"
)

// leases implements lipsync.Leases.
type leases struct{ *Store }

// isOpen selects requests that are not final. claimable selects the open requests that no worker
// holds at the time ?1.
const (
	isOpen    = "status IN ('queued', 'processing')"
	claimable = isOpen + " AND lease_until <= ?1"
)

// waitingAccounts has the accounts with open requests, and NULL at the end. It goes from one to the next by an index.
const waitingAccounts = `WITH RECURSIVE waiting (account) AS (
		SELECT (SELECT account FROM requests INDEXED BY requests_open_of_account WHERE ` + isOpen + `
			ORDER BY account LIMIT 1)
		UNION ALL
		SELECT (SELECT account FROM requests INDEXED BY requests_open_of_account WHERE ` + isOpen + `
			AND account > waiting.account ORDER BY account LIMIT 1)
		FROM waiting WHERE account IS NOT NULL
	)`

// next selects the column n of the request to claim at the time ?1, or NULL. The cost grows with the number of accounts with open
// requests and of leases, and not with the number of waiting requests.
const next = waitingAccounts + `
	SELECT (SELECT n FROM requests INDEXED BY requests_open_of_account
			WHERE account = waiting.account AND ` + claimable + ` ORDER BY n LIMIT 1) AS oldest
	FROM waiting ORDER BY oldest IS NULL, (SELECT count(*) FROM requests INDEXED BY requests_held_of_account
			WHERE account = waiting.account AND lease <> '' AND lease_until > ?1),
		(SELECT at FROM claimed WHERE account = waiting.account AND at <= ?1), oldest -- NULL comes first
	LIMIT 1`

// noteClaim stores the time of the account's last claim.
func noteClaim(ctx context.Context, tx *sql.Tx, account string, now time.Time) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO claimed (account, at) VALUES (?1, ?2)
		ON CONFLICT DO UPDATE SET at = ?2`, account, micros(now))
	return err
}

// Assignments for a request that no worker holds.
const (
	noProgress = "stage = '', percent = 0, ends = 0"
	unheld     = "lease = '', " + noProgress
	idle       = "lease_until = 0, " + unheld
	noDelays   = "missing_since = 0, unreachable_since = 0, failing_since = 0"
)

// endedDelays ends the delays of a request whose lease ran out.
const endedDelays = `missing_since = iif(lease = '', missing_since, 0), unreachable_since = iif(lease = '', unreachable_since, 0),
	failing_since = iif(lease = '', failing_since, 0)`

func lost() error { return refusal(lipsync.Conflict, "lease lost") }

// Claim implements lipsync.Leases.
func (s leases) Claim(ctx context.Context, id, token string, now time.Time, lease time.Duration) (lipsync.Request, error) {
	which, args := "n = ("+next+")", []any{micros(now), token, micros(now.Add(lease))}
	if id != "" {
		which, args = claimable+" AND id = ?4", append(args, id)
	}
	var r lipsync.Request
	err := s.update(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		r, err = scanRequest(tx.QueryRowContext(ctx, `UPDATE requests SET status = 'processing',
				claims = claims + 1, attempts = attempts + 1,
				started_at = iif(started_at = 0, ?1, started_at), lease = ?2, lease_until = ?3, `+noProgress+", "+endedDelays+`
			WHERE `+which+" RETURNING "+requestColumns, args...))
		if err != nil {
			return err
		}
		if r.Claims == 1 {
			if err := addDeliveries(ctx, tx, r.News(lipsync.Queued)); err != nil {
				return err
			}
		}
		return noteClaim(ctx, tx, r.Account, now)
	})
	return r, err
}

// Renew implements lipsync.Leases.
func (s leases) Renew(ctx context.Context, id, token string, until time.Time) error {
	return s.changeRow(ctx, lost(), "UPDATE requests SET lease_until = ? WHERE id = ? AND lease = ? AND lease <> ''",
		micros(until), id, token)
}

// Report implements lipsync.Leases.
func (s leases) Report(ctx context.Context, id, token string, p lipsync.Progress) error {
	return s.changeRow(ctx, lost(), `UPDATE requests SET stage = ?, percent = ?, ends = ?
		WHERE id = ? AND lease = ? AND lease <> ''`, p.Stage, p.Percent, micros(p.Ends), id, token)
}

// NoteVideo implements lipsync.Leases.
func (s leases) NoteVideo(ctx context.Context, id, token string, sum [32]byte) error {
	return s.changeRow(ctx, lost(), "UPDATE requests SET video_sum = ? WHERE id = ? AND lease = ? AND lease <> ''", sum[:], id, token)
}

// Release implements lipsync.Leases.
func (s leases) Release(ctx context.Context, id, token string) error {
	return s.changeRow(ctx, lost(), "UPDATE requests SET "+idle+", "+noDelays+`, attempts = attempts - 1
		WHERE id = ? AND lease = ? AND lease <> ''`, id, token)
}

// Postpone implements lipsync.Leases.
func (s leases) Postpone(ctx context.Context, r lipsync.Request, until time.Time) error {
	return s.changeRow(ctx, lost(), "UPDATE requests SET "+unheld+`, lease_until = ?, attempts = ?, delays = ?,
			missing_since = ?, unreachable_since = ?, failing_since = ?, fetching = ?
		WHERE id = ? AND lease = ? AND lease <> ''`,
		micros(until), r.Attempts, r.Delays, micros(r.MissingSince), micros(r.UnreachableSince), micros(r.FailingSince),
		r.Fetching.Microseconds(), r.ID, r.Lease)
}

// postponed selects the requests that are postponed until a time after ?1.
const postponed = "WHERE lease = '' AND lease_until > 0 AND lease_until > ?1 ORDER BY lease_until, n LIMIT ?2"

// Postponed implements lipsync.Leases.
func (s leases) Postponed(ctx context.Context, after time.Time, limit int) ([]lipsync.Request, error) {
	return s.selectRequests(ctx, postponed, micros(after), limit)
}

// EndPause implements lipsync.Leases.
func (s leases) EndPause(ctx context.Context, r lipsync.Request, now time.Time) error {
	return s.changeRow(ctx, refusal(lipsync.Conflict, "pause is over"),
		"UPDATE requests SET lease_until = ? WHERE id = ? AND lease = '' AND lease_until > 0 AND lease_until = ?",
		micros(now), r.ID, micros(r.LeaseUntil))
}

// Finish implements lipsync.Leases.
func (s leases) Finish(ctx context.Context, id, token string, now time.Time, o lipsync.Outcome) error {
	var r lipsync.Request
	r.End(now, o)
	return s.update(ctx, func(ctx context.Context, tx *sql.Tx) error {
		stored, err := scanRequest(tx.QueryRowContext(ctx, "UPDATE requests SET "+idle+`, status = ?, finished_at = ?, output = ?, poster = ?, length = ?, size = ?,
				frames = ?, synced_frames = ?, warnings = ?, sync = ?, video_length = ?, audio_length = ?, failure = ?, failure_details = ?
			WHERE id = ? AND lease = ? AND lease <> '' RETURNING `+requestColumns,
			r.Status, micros(r.FinishedAt), r.Output, r.Poster, r.Length.Microseconds(), r.Size,
			r.Frames.Total, r.Frames.Synced, r.Warnings, r.Sync.Text(), r.VideoLength.Microseconds(), r.AudioLength.Microseconds(), r.Failure.Code, r.Failure.Text(), id, token))
		if lipsync.CodeOf(err) == lipsync.NotFound {
			return lost()
		}
		if err == nil && o.Free() {
			_, err = tx.ExecContext(ctx, "UPDATE keys SET used = used - 1 WHERE id = ?", stored.KeyID)
		}
		if err != nil {
			return err
		}
		return addDeliveries(ctx, tx, stored.News(lipsync.Processing))
	})
}

// Cancel implements lipsync.Leases.
func (s leases) Cancel(ctx context.Context, id string, now time.Time, f lipsync.Failure) (r lipsync.Request, err error) {
	err = s.update(ctx, func(ctx context.Context, tx *sql.Tx) error {
		r, err = scanRequest(tx.QueryRowContext(ctx, "UPDATE requests SET "+idle+`, status = 'failed', failure = ?, failure_details = ?, finished_at = ?,
				started_at = iif(started_at = 0, ?, started_at)
			WHERE id = ? AND `+isOpen+` RETURNING `+requestColumns,
			f.Code, f.Text(), micros(now), micros(now), id))
		if err == nil {
			return addDeliveries(ctx, tx, r.News(lipsync.Processing))
		}
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

// Upkeep implements lipsync.Leases. In SQLite, claims leave no work for later.
func (s leases) Upkeep(context.Context, time.Time) error { return nil }

// Open implements lipsync.Leases.
func (s leases) Open(ctx context.Context, now time.Time, limit int) ([]lipsync.Request, error) {
	return s.selectRequests(ctx, "WHERE "+claimable+" ORDER BY n LIMIT ?2", micros(now), limit)
}
