package worker

import (
	"context"
	"errors"
	"time"

	"lipsync/internal/lipsync"
)

const (
	// transferTime bounds what an attempt does before the length of its media is known,
	// and after its output is there. A fetch may take 20 minutes, and there are two; to
	// read and to store 5 GiB takes 24 minutes at 30 Mbit/s.
	transferTime = time.Hour
	// leastRender is what rendering may take however short the media are. TensorRT, where
	// it is asked for, compiles a network for minutes before the first frame.
	leastRender = 15 * time.Minute
	// renderFactor is how many times the length of the media rendering may take besides:
	// 120 frames a second, the most that the service takes, then go at 5 a second. What
	// is slower was made to be.
	renderFactor = 24
)

// errSlow ends an attempt that was too slow through no fault of its media.
var errSlow = errors.New("not done in time")

// errTooSlow ends an attempt whose media take too long. Another attempt would too, so
// that the request fails.
var errTooSlow = lipsync.Failure{Code: lipsync.ProcessingTooLong}.Because(nil)

// renderTime is how long rendering may take for media of the length.
func renderTime(length time.Duration) time.Duration { return leastRender + renderFactor*length }

// bound ends an attempt that takes too long. It is for one goroutine.
type bound struct {
	end  context.CancelCauseFunc
	next *time.Timer // of what is being done
	last *time.Timer // of the process
}

// bound returns a context that ends by what is set in the bound, or soon before this
// process is killed. close is to be called once the attempt is over.
func (w *Worker) bound(ctx context.Context) (context.Context, *bound) {
	ctx, end := context.WithCancelCause(ctx)
	b := &bound{end: end, next: time.NewTimer(0)}
	if !w.End.IsZero() {
		b.last = time.AfterFunc(time.Until(w.End), func() { end(errSlow) })
	}
	b.set(transferTime, errSlow)
	return ctx, b
}

// set bounds what is done next, instead of what was done before: after the time the
// attempt ends for that reason.
func (b *bound) set(d time.Duration, why error) {
	b.next.Stop()
	b.next = time.AfterFunc(d, func() { b.end(why) })
}

func (b *bound) close() {
	b.next.Stop()
	if b.last != nil {
		b.last.Stop()
	}
	b.end(context.Canceled)
}
