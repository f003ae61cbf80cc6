package fetch

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"lipsync/internal/domain/transfer"
)

// errPace ends a transfer that is slower than transfer.LeastSpeed.
var errPace = errors.New("fewer bytes a second than the least speed")

// paceStep is the time between two looks at the speed of a transfer.
const paceStep = time.Second

// paced returns a context that ends with errPace if after the Patience fewer bytes have moved than at transfer.LeastSpeed since now. The caller must
// call stop.
func (c *Client) paced(parent context.Context, moved *atomic.Int64) (ctx context.Context, stop func()) {
	ctx, end := context.WithCancelCause(parent)
	began := time.Now()
	if c.options.Patience > 0 {
		var look *time.Timer
		ready := make(chan struct{})
		look = time.AfterFunc(c.options.Patience, func() {
			<-ready
			if float64(moved.Load()) < time.Since(began).Seconds()*transfer.LeastSpeed {
				end(errPace)
			} else if ctx.Err() == nil {
				look.Reset(paceStep)
			}
		})
		close(ready)
		context.AfterFunc(ctx, func() { look.Stop() })
	}
	return ctx, func() { end(context.Canceled) }
}
