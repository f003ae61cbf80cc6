package sqlite

import (
	"context"
	"database/sql"
	"time"

	"lipsync/internal/domain/lipsync"
)

// usesObject selects whether an open request of the account has the object as an input.
const usesObject = `SELECT EXISTS (SELECT 1 FROM requests INDEXED BY requests_open_of_account
	WHERE account = ?1 AND ` + isOpen + ` AND (video_object = ?2 OR audio_object = ?2 OR tracks LIKE '%"object":"' || ?2 || '"%'))`

// Uses implements lipsync.Requests.
func (s requests) Uses(ctx context.Context, account, object string) (used bool, err error) {
	err = s.read.QueryRowContext(ctx, usesObject, account, object).Scan(&used)
	return used, explain(err)
}

// ForgetMedia implements lipsync.Requests.
func (s requests) ForgetMedia(ctx context.Context, id string, now time.Time) (r lipsync.Request, err error) {
	err = s.update(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE requests SET media_deleted_at = ?, output = '', poster = 0, video_sum = x''
			WHERE id = ? AND media_deleted_at = 0 AND NOT `+isOpen, micros(now), id)
		if err != nil {
			return err
		}
		r, err = scanRequest(tx.QueryRowContext(ctx, "SELECT "+requestColumns+" FROM requests WHERE id = ?", id))
		if err == nil && !r.Status.Final() {
			err = refusal(lipsync.Conflict, "request is not final")
		}
		return err
	})
	return r, err
}
