package worker

import (
	"context"
	"errors"
	"time"

	"lipsync/internal/domain/failure"
)

const (
	// transferTime bounds two parts of an attempt: before the length of its media is known, and
	// after its output exists. The first starts again as each file begins.
	// To read or store 5 GiB takes 24 minutes at 30 Mbit/s.
	transferTime = 80 * time.Minute
	// leastRender is the time that rendering may take for the shortest media. TensorRT, if it is
	// used, compiles a network for minutes before the first frame.
	leastRender = 15 * time.Minute
	// renderFactor is the time that rendering may take in addition, as a multiple of the length of
	// the media. For media of 120 frames a second, the most that the service accepts, it allows
	// rendering at 5 frames a second. Hostile media are slower, and large pictures in HEVC or VP9
	// may be.
	renderFactor = 24
)

// errSlow ends an attempt that was too slow through no fault of its media.
var errSlow = errors.New("not done in time")

// errTooSlow ends an attempt whose media take too long. Another attempt would take as long, so the
// request fails.
var errTooSlow = failure.Failure{Code: failure.ProcessingTooLong}.Because(nil)

// errTooBig ends an attempt at a request that is too large for a worker of small ones.
var errTooBig = errors.New("the request is too large for this worker")

// renderTime returns the time that rendering may take for media of the length.
func renderTime(length time.Duration) time.Duration { return leastRender + renderFactor*length }

// bound ends an attempt that takes too long, and has its slot and its promise. Only one goroutine may use it.
type bound struct {
	*slot
	promise promise
	end     context.CancelCauseFunc
	next    *time.Timer // of the current step
	last    *time.Timer // of the process
}

// bound returns a context that ends when a bound is exceeded, or soon before this process is
// killed. The caller must close the bound when the attempt is over.
func (w *Worker) bound(ctx context.Context, p *slot) (context.Context, *bound) {
	ctx, end := context.WithCancelCause(ctx)
	b := &bound{slot: p, promise: promise{w: w}, end: end, next: time.NewTimer(0)}
	if !w.c.End.IsZero() {
		b.last = time.AfterFunc(time.Until(w.c.End), func() { end(errSlow) })
	}
	b.set(transferTime, errSlow)
	return ctx, b
}

// set bounds the next step, and replaces the bound of the step before. After the duration the
// attempt ends with the error why.
func (b *bound) set(d time.Duration, why error) {
	b.next.Stop()
	b.next = time.AfterFunc(d, func() { b.end(why) })
}

// enter begins a step, bounded by transferTime, in the slot.
func (b *bound) enter(ctx context.Context) error {
	b.next.Stop()
	defer b.set(transferTime, errSlow)
	return b.slot.enter(ctx)
}

func (b *bound) close() {
	b.next.Stop()
	if b.last != nil {
		b.last.Stop()
	}
	b.promise.end()
	b.end(context.Canceled)
}
