package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"time"

	"lipsync/internal/domain/lipsync"
)

// accountsInLine selects the accounts with open requests at the time ?1, and what decides when their requests are claimed. Of each account it
// counts up to ?2 claimable requests. It goes from one account to the next by an index.
const accountsInLine = waitingAccounts + `
	SELECT account, (SELECT count(*) FROM (SELECT 1 FROM requests INDEXED BY requests_open_of_account
			WHERE account = waiting.account AND ` + claimable + ` LIMIT ?2)),
		coalesce((SELECT at FROM claimed WHERE account = waiting.account AND at <= ?1), 0),
		coalesce((SELECT printf('%019d', n) FROM requests INDEXED BY requests_open_of_account
			WHERE account = waiting.account AND ` + claimable + ` ORDER BY n LIMIT 1), '')
	FROM waiting WHERE account IS NOT NULL`

// held selects the accounts and the first claims of the requests that are held at the time ?1.
const held = `SELECT account, started_at FROM requests INDEXED BY requests_held_of_account WHERE lease <> '' AND lease_until > ?1`

// standings returns what decides when workers claim requests of the accounts with open requests.
func standings(ctx context.Context, db querier, now time.Time, limit int) ([]lipsync.Standing, error) {
	since := map[string][]time.Time{}
	rows, err := db.QueryContext(ctx, held, micros(now))
	_, err = collect(rows, err, func(columns row) (account string, err error) {
		var t time.Time
		err = columns.Scan(&account, instant{&t})
		since[account] = append(since[account], t)
		return account, err
	})
	if err != nil {
		return nil, err
	}
	rows, err = db.QueryContext(ctx, accountsInLine, micros(now), limit)
	return collect(rows, err, func(columns row) (a lipsync.Standing, err error) {
		err = columns.Scan(&a.Account, &a.Waiting, instant{&a.Claimed}, &a.Oldest)
		a.Held = since[a.Account]
		return a, err
	})
}

// olderOpen counts up to ?4 claimable requests of the account ?2 that are older than the request number ?3.
const olderOpen = `SELECT count(*) FROM (SELECT 1 FROM requests INDEXED BY requests_open_of_account
	WHERE account = ?2 AND n < ?3 AND ` + claimable + ` LIMIT ?4)`

// Line implements lipsync.Leases.
func (s leases) Line(ctx context.Context, r lipsync.Request, now time.Time, limit int) (l lipsync.Line, err error) {
	number := int64(math.MaxInt64)
	err = s.read.QueryRowContext(ctx, "SELECT n FROM requests WHERE id = ?", r.ID).Scan(&number)
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		err = s.read.QueryRowContext(ctx, olderOpen, micros(now), r.Account, number, limit).Scan(&l.Ahead)
	}
	if err != nil {
		return l, explain(err)
	}
	l.Accounts, err = standings(ctx, s.read, now, limit)
	if err == nil && !slices.ContainsFunc(l.Accounts, func(a lipsync.Standing) bool { return a.Account == r.Account }) {
		own := lipsync.Standing{Account: r.Account}
		err = explain(s.read.QueryRowContext(ctx, "SELECT coalesce((SELECT at FROM claimed WHERE account = ? AND at <= ?), 0)",
			r.Account, micros(now)).Scan(instant{&own.Claimed}))
		l.Accounts = append(l.Accounts, own)
	}
	return l, err
}
