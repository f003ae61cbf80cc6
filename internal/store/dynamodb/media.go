package dynamodb

import (
	"context"
	"time"

	"lipsync/internal/domain/lipsync"
)

// ForgetMedia implements lipsync.Requests.
func (s requests) ForgetMedia(ctx context.Context, id string, now time.Time) (lipsync.Request, error) {
	now = now.Truncate(time.Microsecond) // the precision of the stored time
	return s.change(ctx, id, func(r stored) (stored, error) {
		switch {
		case !r.Status.Final():
			return stored{}, refusal(lipsync.Conflict, "request is not final")
		case r.MediaDeletedAt.IsZero():
			r.MediaDeletedAt, r.Output, r.Poster, r.VideoSum = now, "", false, [32]byte{}
		}
		return r, nil
	})
}

// uncountSize subtracts the bytes of a deleted output from those that the account stores.
func (s *Store) uncountSize(r lipsync.Request) step {
	return change{key: dayKey(r), add: item{"size": number(-r.Size)}}.step(s.table)
}
