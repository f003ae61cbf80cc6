package sqlite

import (
	"context"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

type keys struct{ *Store }

const keyColumns = "id, account, name, hash, created_at, last_used, revoked_at, expires_at, read_only, max_uses, used, start"

func scanKey(row row) (k lipsync.Key, err error) {
	var hash []byte
	err = row.Scan(&k.ID, &k.Account, &k.Name, &hash,
		instant{&k.CreatedAt}, instant{&k.LastUsed}, instant{&k.RevokedAt}, instant{&k.ExpiresAt}, &k.ReadOnly, &k.Limit, &k.Used, &k.Start)
	copy(k.Hash[:], hash)
	return k, err
}

func (s keys) Create(ctx context.Context, k lipsync.Key) error {
	return s.changeRow(ctx, "create_key", nil, "INSERT INTO keys ("+keyColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		k.ID, k.Account, k.Name, k.Hash[:], micros(k.CreatedAt), micros(k.LastUsed), micros(k.RevokedAt), micros(k.ExpiresAt), k.ReadOnly, k.Limit, k.Used, k.Start)
}

func (s keys) ByHash(ctx context.Context, hash [32]byte) (lipsync.Key, error) {
	return one(ctx, s.Store, "key_by_hash", scanKey, "SELECT "+keyColumns+" FROM keys WHERE hash = ?", hash[:])
}

func (s keys) Touch(ctx context.Context, id string, at time.Time) error {
	return s.changeRow(ctx, "touch_key", nil, "UPDATE keys SET last_used = ?1 WHERE id = ?2 AND last_used < ?1", micros(at), id)
}

func (s keys) List(ctx context.Context, account string) ([]lipsync.Key, error) {
	which := "WHERE account = ?1"
	if account == "" {
		which = ""
	}
	return many(ctx, s.Store, "list_keys", scanKey, "SELECT "+keyColumns+" FROM keys "+which+" ORDER BY created_at, rowid", account)
}

func (s keys) Revoke(ctx context.Context, account, id string, at time.Time) error {
	return s.changeRow(ctx, "revoke_key", failure.New(failure.NotFound, "not found"), `UPDATE keys SET revoked_at = iif(revoked_at = 0, ?1, revoked_at)
		WHERE id = ?2 AND ?3 IN (account, '')`, micros(at), id, account)
}
