package sqlite

import (
	"context"
	"time"

	"lipsync/internal/domain/lipsync"
)

// usesObject selects whether an open request of the account has the object as an input.
const usesObject = `SELECT EXISTS (SELECT 1 FROM requests INDEXED BY requests_open_of_account
	WHERE account = ?1 AND ` + isOpen + ` AND (video_object = ?2 OR audio_object = ?2 OR tracks LIKE '%"object":"' || ?2 || '"%'))`

func (s requests) Uses(ctx context.Context, account, object string) (used bool, err error) {
	err = s.read.QueryRowContext(ctx, usesObject, account, object).Scan(&used)
	return used, explain(err)
}

func (s requests) ForgetMedia(ctx context.Context, id string, now time.Time) (lipsync.Request, error) {
	return s.change(ctx, id, func(r lipsync.Request) (lipsync.Request, error) { return r.WithoutMedia(now) })
}
