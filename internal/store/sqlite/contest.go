package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"time"

	"lipsync/internal/domain/lipsync"
)

// standing selects the accounts and kinds with open requests at the time ?1, and what decides when their requests are claimed. Of each it
// counts up to ?2 claimable requests, only those of the classes in the JSON array ?3 unless that is NULL. It goes from one to the next by an index.
const standing = waiting + `
	SELECT account, kind, (SELECT count(*) FROM (SELECT 1 FROM requests INDEXED BY requests_open_of_account
			WHERE account = waiting.account AND kind = waiting.kind AND ` + claimable + ` AND (?3 IS NULL OR class IN (SELECT value FROM json_each(?3))) LIMIT ?2)),
		coalesce((SELECT at FROM claimed WHERE account = waiting.account AND kind = waiting.kind AND at <= ?1), 0),
		coalesce((SELECT printf('%019d', n) FROM requests INDEXED BY requests_open_of_account
			WHERE account = waiting.account AND kind = waiting.kind AND ` + claimable + ` AND (?3 IS NULL OR class IN (SELECT value FROM json_each(?3))) ORDER BY n LIMIT 1), '')
	FROM waiting`

// held selects the accounts, kinds, classes and first claims of the requests that are held at the time ?1.
const held = `SELECT account, kind, class, started_at FROM requests INDEXED BY requests_held_of_account WHERE lease <> '' AND lease_until > ?1`

// list returns the classes as a JSON array, or nil for all.
func list(of []lipsync.Class) any {
	if len(of) == len(lipsync.Classes()) {
		return nil
	}
	text, err := json.Marshal(of)
	if err != nil {
		panic(err) // can't happen: strings always encode
	}
	return string(text)
}

// standings returns what decides when workers claim requests of the classes, of the accounts and kinds with open requests.
func standings(ctx context.Context, db querier, now time.Time, limit int, among []lipsync.Class) ([]lipsync.Standing, error) {
	type owner struct {
		account string
		kind    lipsync.Kind
	}
	all := map[owner][]lipsync.Hold{}
	rows, err := db.QueryContext(ctx, held, micros(now))
	_, err = collect(rows, err, func(columns row) (of owner, err error) {
		var h lipsync.Hold
		err = columns.Scan(&of.account, &of.kind, &h.Class, instant{&h.Since})
		if slices.Contains(among, h.Class) {
			all[of] = append(all[of], h)
		}
		return of, err
	})
	if err != nil {
		return nil, err
	}
	rows, err = db.QueryContext(ctx, standing, micros(now), limit, list(among))
	return collect(rows, err, func(columns row) (a lipsync.Standing, err error) {
		err = columns.Scan(&a.Account, &a.Kind, &a.Waiting, instant{&a.Claimed}, &a.Oldest)
		a.Held = all[owner{a.Account, a.Kind}]
		return a, err
	})
}

// olderOpen counts up to ?4 claimable requests of the account ?2 and the kind ?5 that are older than the request number ?3, only those of the classes
// in the JSON array ?6 unless that is NULL.
const olderOpen = `SELECT count(*) FROM (SELECT 1 FROM requests INDEXED BY requests_open_of_account
	WHERE account = ?2 AND kind = ?5 AND n < ?3 AND ` + claimable + ` AND (?6 IS NULL OR class IN (SELECT value FROM json_each(?6))) LIMIT ?4)`

func (s leases) Contest(ctx context.Context, r lipsync.Request, among []lipsync.Class, now time.Time, limit int) (c lipsync.Contest, err error) {
	defer s.observe(ctx, "contest", time.Now(), &err)
	number := int64(math.MaxInt64)
	err = s.read.QueryRowContext(ctx, "SELECT n FROM requests WHERE id = ?", r.ID).Scan(&number)
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		err = s.read.QueryRowContext(ctx, olderOpen, micros(now), r.Account, number, limit, r.Kind, list(among)).Scan(&c.Ahead)
	}
	if err != nil {
		return c, explain(err)
	}
	c.Accounts, err = standings(ctx, s.read, now, limit, among)
	if err == nil && !slices.ContainsFunc(c.Accounts, func(a lipsync.Standing) bool { return a.Account == r.Account && a.Kind == r.Kind }) {
		own := lipsync.Standing{Account: r.Account, Kind: r.Kind}
		err = explain(s.read.QueryRowContext(ctx, "SELECT coalesce((SELECT at FROM claimed WHERE account = ? AND kind = ? AND at <= ?), 0)",
			r.Account, r.Kind, micros(now)).Scan(instant{&own.Claimed}))
		c.Accounts = append(c.Accounts, own)
	}
	return c, err
}
