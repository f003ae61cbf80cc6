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

// inLine selects the accounts and kinds with open requests at the time ?1, and what decides when their requests are claimed. Of each it
// counts up to ?2 claimable requests, or only small ones if ?3. It goes from one to the next by an index.
const inLine = waiting + `
	SELECT account, kind, (SELECT count(*) FROM (SELECT 1 FROM requests INDEXED BY requests_open_of_account
			WHERE account = waiting.account AND kind = waiting.kind AND ` + claimable + ` AND (class = '' OR NOT ?3) LIMIT ?2)),
		coalesce((SELECT at FROM claimed WHERE account = waiting.account AND kind = waiting.kind AND at <= ?1), 0),
		coalesce((SELECT printf('%019d', n) FROM requests INDEXED BY requests_open_of_account
			WHERE account = waiting.account AND kind = waiting.kind AND ` + claimable + ` AND (class = '' OR NOT ?3) ORDER BY n LIMIT 1), '')
	FROM waiting`

// held selects the accounts, kinds and first claims of the requests that are held at the time ?1.
const held = `SELECT account, kind, started_at FROM requests INDEXED BY requests_held_of_account WHERE lease <> '' AND lease_until > ?1`

// standings returns what decides when workers claim requests, or only small ones, of the accounts and kinds with open requests.
func standings(ctx context.Context, db querier, now time.Time, limit int, small bool) ([]lipsync.Standing, error) {
	type owner struct {
		account string
		kind    lipsync.Kind
	}
	since := map[owner][]time.Time{}
	rows, err := db.QueryContext(ctx, held, micros(now))
	_, err = collect(rows, err, func(columns row) (of owner, err error) {
		var t time.Time
		err = columns.Scan(&of.account, &of.kind, instant{&t})
		since[of] = append(since[of], t)
		return of, err
	})
	if err != nil {
		return nil, err
	}
	rows, err = db.QueryContext(ctx, inLine, micros(now), limit, small)
	return collect(rows, err, func(columns row) (a lipsync.Standing, err error) {
		err = columns.Scan(&a.Account, &a.Kind, &a.Waiting, instant{&a.Claimed}, &a.Oldest)
		a.Held = since[owner{a.Account, a.Kind}]
		return a, err
	})
}

// olderOpen counts up to ?4 claimable requests of the account ?2 and the kind ?5 that are older than the request number ?3.
const olderOpen = `SELECT count(*) FROM (SELECT 1 FROM requests INDEXED BY requests_open_of_account
	WHERE account = ?2 AND kind = ?5 AND n < ?3 AND ` + claimable + ` LIMIT ?4)`

func (s leases) Line(ctx context.Context, r lipsync.Request, now time.Time, limit int) (l lipsync.Line, err error) {
	defer s.observe(ctx, "line", time.Now(), &err)
	number := int64(math.MaxInt64)
	err = s.read.QueryRowContext(ctx, "SELECT n FROM requests WHERE id = ?", r.ID).Scan(&number)
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		err = s.read.QueryRowContext(ctx, olderOpen, micros(now), r.Account, number, limit, r.Kind).Scan(&l.Ahead)
	}
	if err != nil {
		return l, explain(err)
	}
	l.Accounts, err = standings(ctx, s.read, now, limit, false)
	if err == nil && !slices.ContainsFunc(l.Accounts, func(a lipsync.Standing) bool { return a.Account == r.Account && a.Kind == r.Kind }) {
		own := lipsync.Standing{Account: r.Account, Kind: r.Kind}
		err = explain(s.read.QueryRowContext(ctx, "SELECT coalesce((SELECT at FROM claimed WHERE account = ? AND kind = ? AND at <= ?), 0)",
			r.Account, r.Kind, micros(now)).Scan(instant{&own.Claimed}))
		l.Accounts = append(l.Accounts, own)
	}
	return l, err
}
