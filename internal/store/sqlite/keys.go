package sqlite

import (
	"context"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

type keys struct{ *Store }

const keyColumns = "id, account, name, hash, created_at, last_used, revoked_at, max_uses, used, start"

func scanKey(row row) (k lipsync.Key, err error) {
	var hash []byte
	err = row.Scan(&k.ID, &k.Account, &k.Name, &hash,
		instant{&k.CreatedAt}, instant{&k.LastUsed}, instant{&k.RevokedAt}, &k.Limit, &k.Used, &k.Start)
	copy(k.Hash[:], hash)
	return k, explain(err)
}

func (s keys) Create(ctx context.Context, k lipsync.Key) error {
	return s.changeRow(ctx, nil, "INSERT INTO keys ("+keyColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		k.ID, k.Account, k.Name, k.Hash[:], micros(k.CreatedAt), micros(k.LastUsed), micros(k.RevokedAt), k.Limit, k.Used, k.Start)
}

func (s keys) ByHash(ctx context.Context, hash [32]byte) (lipsync.Key, error) {
	return scanKey(s.read.QueryRowContext(ctx, "SELECT "+keyColumns+" FROM keys WHERE hash = ?", hash[:]))
}

func (s keys) Touch(ctx context.Context, id string, at time.Time) error {
	return s.changeRow(ctx, nil, "UPDATE keys SET last_used = ?1 WHERE id = ?2 AND last_used < ?1", micros(at), id)
}

func (s keys) List(ctx context.Context, account string) ([]lipsync.Key, error) {
	which := "WHERE account = ?1"
	if account == "" {
		which = ""
	}
	rows, err := s.read.QueryContext(ctx, "SELECT "+keyColumns+" FROM keys "+which+" ORDER BY created_at, rowid", account)
	return collect(rows, err, scanKey)
}

func (s keys) Revoke(ctx context.Context, account, id string, at time.Time) error {
	return s.changeRow(ctx, refusal(failure.NotFound, "not found"), `UPDATE keys SET revoked_at = iif(revoked_at = 0, ?1, revoked_at)
		WHERE id = ?2 AND ?3 IN (account, '')`, micros(at), id, account)
}
