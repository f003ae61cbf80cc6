package sqlite

import (
	"context"
	"time"

	"lipsync/internal/lipsync"
)

const uploadColumns = "id, account, kind, size, content_type, object, created_at, expires_at, request_id"

func scanUpload(row row) (u lipsync.Upload, err error) {
	err = row.Scan(&u.ID, &u.Account, &u.Kind, &u.Size, &u.ContentType, &u.Object,
		instant{&u.CreatedAt}, instant{&u.ExpiresAt}, &u.RequestID)
	return u, orNotFound(err)
}

// CreateUpload implements lipsync.Uploads.
func (s *Store) CreateUpload(ctx context.Context, u lipsync.Upload) error {
	return s.changeRow(ctx, nil, "INSERT INTO uploads ("+uploadColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		u.ID, u.Account, u.Kind, u.Size, u.ContentType, u.Object, micros(u.CreatedAt), micros(u.ExpiresAt), u.RequestID)
}

// GetUpload implements lipsync.Uploads.
func (s *Store) GetUpload(ctx context.Context, id string) (lipsync.Upload, error) {
	return scanUpload(s.read.QueryRowContext(ctx, "SELECT "+uploadColumns+" FROM uploads WHERE id = ?", id))
}

// ExpiredUploads implements lipsync.Uploads.
func (s *Store) ExpiredUploads(ctx context.Context, now time.Time, limit int) ([]lipsync.Upload, error) {
	rows, err := s.read.QueryContext(ctx, "SELECT "+uploadColumns+` FROM uploads
		WHERE expires_at < ? ORDER BY expires_at LIMIT ?`, micros(now), limit)
	return collect(rows, err, scanUpload)
}

// DeleteUpload implements lipsync.Uploads.
func (s *Store) DeleteUpload(ctx context.Context, id string) error {
	return s.changeRow(ctx, nil, "DELETE FROM uploads WHERE id = ?", id)
}
