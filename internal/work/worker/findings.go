package worker

import (
	"context"
	"crypto/sha256"
	"io"
	"log/slog"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
	"lipsync/internal/render"
)

// findings has the findings about the video of a request.
type findings struct {
	service *service.Work
	request lipsync.Request
	video   [sha256.Size]byte // SHA-256 of its content
	log     *slog.Logger
}

var _ render.Findings = (*findings)(nil)

func (f *findings) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	content, err := f.service.OpenFindings(ctx, f.request, f.video, name)
	if err != nil && failure.CodeOf(err) != failure.NotFound {
		f.log.Warn("findings can't be read", "error", err)
	}
	return content, err
}

func (f *findings) Keep(ctx context.Context, name string, content io.Reader) error {
	err := f.service.KeepFindings(ctx, f.request, f.video, name, content)
	if err != nil {
		f.log.Warn("findings were not kept", "error", err)
	}
	return err
}
