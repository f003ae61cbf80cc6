package sqlite

import (
	"context"
	"time"

	"lipsync/internal/domain/lipsync"
)

// Backlog counts the open requests at now. The cost grows with their number.
func (s *Store) Backlog(ctx context.Context, now time.Time) (b lipsync.Backlog, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE status = 'queued'), count(*) FILTER (WHERE status = 'processing'),
			coalesce(min(max(created_at, lease_until)) FILTER (WHERE lease_until <= ?), 0)
		FROM requests WHERE `+isOpen, micros(now)).
		Scan(&b.Queued, &b.Processing, instant{&b.WaitingSince})
	return b, err
}
