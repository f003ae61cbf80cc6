package dynamodb

import (
	"context"
	"time"

	"lipsync/internal/domain/lipsync"
)

func (s requests) ForgetMedia(ctx context.Context, id string, now time.Time) (lipsync.Request, error) {
	return s.change(ctx, id, func(r lipsync.Request) (lipsync.Request, error) { return r.WithoutMedia(now) })
}

// uncountSize subtracts the bytes of a deleted output from those that the account stores.
func (s *Store) uncountSize(r lipsync.Request) step {
	return change{key: dayKey(r), add: item{"size": number(-r.Size)}}.step(s.table)
}
