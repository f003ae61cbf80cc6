package requests

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"lipsync/internal/domain/lipsync"
)

// pieceKey returns the object key of a finished piece of the request's output. It contains the number of the claim, so a worker that lost the
// request can't overwrite a piece of another worker.
func pieceKey(r lipsync.Request, claim, n int) string {
	return fmt.Sprintf("%s%d/%d", r.Pieces(), claim, n)
}

// KeepPiece keeps the piece number n of a claimed request's output, for later claims of the request. It returns NoSpace if the disk has too
// little space.
func (s *Service) KeepPiece(ctx context.Context, r lipsync.Request, n int, content io.Reader, size int64) error {
	return s.Objects.Put(ctx, pieceKey(r, r.Claims, n), &lipsync.RoomReader{R: content, Room: s.Room}, size)
}

// OpenPiece opens the piece number n that a worker kept in a claim of the request. It returns NotFound if there is none.
func (s *Service) OpenPiece(ctx context.Context, r lipsync.Request, claim, n int) (io.ReadCloser, error) {
	content, _, err := s.Objects.Open(ctx, pieceKey(r, claim, n))
	return content, err
}

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
