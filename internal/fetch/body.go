package fetch

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// body is a response's body that fails when its source stalls.
type body struct {
	io.ReadCloser
	length  int64 // as announced, or -1
	ctx     context.Context
	stop    context.CancelFunc
	stall   time.Duration
	stalled *time.Timer
}

// newBody wraps the response's body. stop ends the fetch; ctx is the caller's,
// to tell its end from the source's faults.
func newBody(ctx context.Context, response *http.Response, stall time.Duration, stop context.CancelFunc) *body {
	return &body{
		ReadCloser: response.Body,
		length:     response.ContentLength,
		ctx:        ctx,
		stop:       stop,
		stall:      stall,
		stalled:    time.AfterFunc(stall, stop),
	}
}

func (b *body) Read(p []byte) (int, error) {
	b.stalled.Reset(b.stall)
	n, err := b.ReadCloser.Read(p)
	if !b.stalled.Stop() {
		err = fmt.Errorf("nothing came for %s", b.stall)
	}
	if err != nil && err != io.EOF {
		err = sourceError(b.ctx, err)
	}
	return n, err
}

func (b *body) Close() error {
	b.stalled.Stop()
	b.stop()
	return b.ReadCloser.Close()
}
