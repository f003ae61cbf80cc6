package service

import (
	"context"
	"fmt"
	"io"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/transfer"
)

// MostPieces is the largest size of all pieces on one machine, in bytes: those of the largest output in pieces. The newest pieces of the request that has
// the most go first.
const MostPieces = 16 << 30

// pieceKey returns the object key of a finished piece of the request's output. It contains the number of the claim, so a worker that lost the
// request can't overwrite a piece of another worker.
func pieceKey(r lipsync.Request, claim, n int) string {
	return fmt.Sprintf("%s%d/%d", r.Pieces(), claim, n)
}

// KeepPiece keeps the piece number n of a claimed request's output, for later claims of the request. It returns NoSpace if the disk has too
// little space.
func (w *Work) KeepPiece(ctx context.Context, r lipsync.Request, n int, content io.Reader, size int64) error {
	err := w.Objects.Put(ctx, pieceKey(r, r.Claims, n), &transfer.RoomReader{R: content, Room: w.Room}, size)
	if err == nil {
		err = w.keep(ctx, &w.pieces, size, w.MaxPieces)
	}
	return err
}

// OpenPiece opens the piece number n that a worker kept in a claim of the request. It returns NotFound if there is none.
func (w *Work) OpenPiece(ctx context.Context, r lipsync.Request, claim, n int) (io.ReadCloser, error) {
	content, _, err := w.Objects.Open(ctx, pieceKey(r, claim, n))
	return content, err
}
