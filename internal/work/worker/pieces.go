package worker

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
	"lipsync/internal/render/recording"
)

// pieces has the pieces of the output of a claimed request.
type pieces struct {
	service *service.Work
	request lipsync.Request
	log     *slog.Logger
}

var _ recording.Pieces = (*pieces)(nil)

var errNoPiece = errors.New("no piece that can be used")

// Find reads the newest piece: that of the last claim before this one that has it.
func (p *pieces) Find(ctx context.Context, n int, read func(io.Reader) error) error {
	for claim := p.request.Claims - 1; claim > 0 && ctx.Err() == nil; claim-- {
		err := p.try(ctx, claim, n, read)
		if err == nil {
			return nil
		}
		if failure.CodeOf(err) != failure.NotFound && ctx.Err() == nil {
			p.log.Warn("a piece of an earlier attempt can't be used", "claim", claim, "piece", n, "error", err)
		}
	}
	if n > 0 { // those before it were used
		p.log.Info("goes on after the pieces of earlier attempts", "pieces", n)
	}
	return errNoPiece
}

func (p *pieces) try(ctx context.Context, claim, n int, read func(io.Reader) error) error {
	content, err := p.service.OpenPiece(ctx, p.request, claim, n)
	if err != nil {
		return err
	}
	return errors.Join(read(content), content.Close())
}

func (p *pieces) Keep(ctx context.Context, n int, content io.Reader, size int64) error {
	return p.service.KeepPiece(ctx, p.request, n, content, size)
}
