package client

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// ask makes a call over the network. It fails if nothing is sent and nothing comes for c.Idle, also while the
// answer's body is read.
func (c *Client) ask(r *http.Request) (*http.Response, error) {
	idle := cmp.Or(c.Idle, answerTime)
	ctx, stop := context.WithCancelCause(r.Context())
	stalled := fmt.Errorf("nothing came for %s: %w", idle, os.ErrDeadlineExceeded)
	m := &moving{timer: time.AfterFunc(idle, func() { stop(stalled) }), idle: idle, ctx: ctx, stop: stop}
	r = r.WithContext(ctx)
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = moved{r.Body, m}
		if again := r.GetBody; again != nil { // the transport sends a call again if the server closed the connection before
			r.GetBody = func() (io.ReadCloser, error) {
				body, err := again()
				return moved{body, m}, err
			}
		}
	}
	answer, err := connections.Do(r)
	if err != nil {
		m.end()
		return nil, err
	}
	m.timer.Reset(idle)
	answer.Body = ending{moved{answer.Body, m}}
	return answer, nil
}

// moving ends a call in which nothing moves.
type moving struct {
	timer *time.Timer
	idle  time.Duration
	ctx   context.Context // of the call
	stop  context.CancelCauseFunc
}

func (m *moving) end() {
	m.timer.Stop()
	m.stop(nil)
}

// moved is a body of a call. Each read of it shows that the call moves.
type moved struct {
	io.ReadCloser
	m *moving
}

// Read reads. After the call was ended its error is the cause.
func (b moved) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF && b.m.ctx.Err() != nil {
		return n, context.Cause(b.m.ctx)
	}
	b.m.timer.Reset(b.m.idle)
	return n, err
}

// ending is the body of an answer, whose close ends the call.
type ending struct{ moved }

var _ io.Closer = (*ending)(nil)

func (b ending) Close() error {
	b.m.end()
	return b.ReadCloser.Close()
}
