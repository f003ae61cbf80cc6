package fetch

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// body is a response's body. Reading it fails when its source stalls.
type body struct {
	io.ReadCloser
	stop    context.CancelFunc
	stall   time.Duration
	stalled *time.Timer
	failed  bool // it ended too early
}

// newBody wraps the response's body. stop closes the connection.
func newBody(response *http.Response, stall time.Duration, stop context.CancelFunc) *body {
	return &body{ReadCloser: response.Body, stop: stop, stall: stall, stalled: time.AfterFunc(stall, stop)}
}

func (b *body) Read(p []byte) (int, error) {
	b.stalled.Reset(b.stall)
	n, err := b.ReadCloser.Read(p)
	if !b.stalled.Stop() {
		err = fmt.Errorf("nothing came for %s", b.stall)
	}
	if err != nil && err != io.EOF {
		b.failed = true
		err = fmt.Errorf("cut off: %w", err)
	}
	return n, err
}

func (b *body) Close() error {
	b.stalled.Stop()
	b.stop()
	return b.ReadCloser.Close()
}
