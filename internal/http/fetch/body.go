package fetch

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// body is a response's body. Reading it fails when its source stalls.
type body struct {
	io.ReadCloser
	stop    context.CancelFunc
	stall   time.Duration
	stalled *time.Timer
	came    *atomic.Int64 // bytes that were read, also of other bodies
	failed  bool          // it ended too early
}

// newBody wraps the response's body. stop closes the connection. came counts the bytes.
func newBody(response *http.Response, stall time.Duration, stop context.CancelFunc, came *atomic.Int64) *body {
	return &body{ReadCloser: response.Body, stop: stop, stall: stall, came: came, stalled: time.AfterFunc(stall, stop)}
}

func (b *body) Read(p []byte) (int, error) {
	b.stalled.Reset(b.stall)
	n, err := b.ReadCloser.Read(p)
	b.came.Add(int64(n))
	if !b.stalled.Stop() {
		err = stallError(b.stall)
	}
	b.failed = b.failed || err != nil && err != io.EOF
	return n, err
}

func (b *body) Close() error {
	b.stalled.Stop()
	b.stop()
	return b.ReadCloser.Close()
}
