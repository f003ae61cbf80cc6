package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

type uploads struct{ *Store }

const uploadColumns = "id, account, kind, size, content_type, object, created_at, expires_at, request_id, dropped, name"

func scanUpload(row row) (u lipsync.Upload, err error) {
	err = row.Scan(&u.ID, &u.Account, &u.Kind, &u.Size, &u.ContentType, &u.Object,
		instant{&u.CreatedAt}, instant{&u.ExpiresAt}, &u.RequestID, &u.Dropped, &u.Name)
	return u, err
}

func (s uploads) Create(ctx context.Context, u lipsync.Upload, limits lipsync.Limits) error {
	return s.update(ctx, "create_upload", func(ctx context.Context, tx *sql.Tx) error {
		if err := checkStored(ctx, tx, u.Account, u.CreatedAt, u.Size, limits); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO uploads ("+uploadColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			u.ID, u.Account, u.Kind, u.Size, u.ContentType, u.Object, micros(u.CreatedAt), micros(u.ExpiresAt), u.RequestID, u.Dropped, u.Name)
		return err
	})
}

func (s uploads) ByID(ctx context.Context, id string) (lipsync.Upload, error) {
	return one(ctx, s.Store, "get_upload", scanUpload, "SELECT "+uploadColumns+" FROM uploads WHERE id = ?", id)
}

// expired selects a page of the expired uploads.
const expired = "WHERE expires_at < ? AND (expires_at, id) > (?, ?) ORDER BY expires_at, id LIMIT ?"

func (s uploads) Expired(ctx context.Context, now time.Time, after lipsync.Upload, limit int) ([]lipsync.Upload, error) {
	return many(ctx, s.Store, "expired_uploads", scanUpload, "SELECT "+uploadColumns+" FROM uploads "+expired,
		micros(now), micros(after.ExpiresAt), after.ID, limit)
}

func (s uploads) Drop(ctx context.Context, u lipsync.Upload, expires time.Time) error {
	return s.update(ctx, "drop_upload", func(ctx context.Context, tx *sql.Tx) error {
		var newest string
		err := tx.QueryRowContext(ctx, "SELECT request_id FROM uploads WHERE id = ?", u.ID).Scan(&newest)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return nil
		case err != nil:
			return err
		case newest != u.RequestID:
			return failure.New(failure.Conflict, "another request uses the upload")
		}
		_, err = tx.ExecContext(ctx, "UPDATE uploads SET dropped = 1, expires_at = ? WHERE id = ?", micros(expires), u.ID)
		return err
	})
}

func (s uploads) Delete(ctx context.Context, u lipsync.Upload) error {
	return s.changeRow(ctx, "delete_upload", nil, "DELETE FROM uploads WHERE id = ?", u.ID)
}
