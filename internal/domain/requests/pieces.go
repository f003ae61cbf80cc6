package requests

import (
	"context"
	"errors"
	"time"

	"lipsync/internal/domain/lipsync"
)

// dropPieces deletes all pieces of a request's output. Tidy deletes those that a worker keeps later, because it didn't know yet that it lost
// the request.
func (s *Service) dropPieces(ctx context.Context, r lipsync.Request) error {
	var keys []string // not deleted while they are listed
	err := s.Objects.List(ctx, r.Pieces(), func(key string, _ time.Time) error {
		keys = append(keys, key)
		return nil
	})
	for _, key := range keys {
		err = errors.Join(err, s.Objects.Delete(ctx, key))
	}
	return err
}
