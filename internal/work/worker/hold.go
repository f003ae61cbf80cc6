package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

const (
	// watchInterval is the time after which a worker again reports its progress, or checks whether
	// its request was canceled. A canceled attempt must stop within two seconds.
	watchInterval = time.Second
	// watchTime bounds one report or check. The next one follows soon.
	watchTime = 5 * time.Second
)

// errSilent is a reason why an attempt's context ends before the worker stops, besides lipsync.ErrLost.
var errSilent = errors.New("lease not renewed: the store doesn't answer")

// hold renews the lease and reports the progress in m, until drop is called. The context that it
// returns ends when the lease is lost.
func (w *Worker) hold(ctx context.Context, r lipsync.Request, m *meter, log *slog.Logger) (held context.Context, drop func()) {
	held, end := context.WithCancelCause(ctx)
	var both sync.WaitGroup
	both.Go(func() { w.renew(held, end, r, log) })
	both.Go(func() { w.watch(held, end, r, m) })
	return held, func() {
		end(context.Canceled)
		both.Wait()
	}
}

// renew renews the lease until ctx ends.
func (w *Worker) renew(ctx context.Context, end context.CancelCauseFunc, r lipsync.Request, log *slog.Logger) {
	renewed := time.Now()
	for pause(ctx, lipsync.Lease/4) {
		err := w.c.Work.Renew(ctx, r)
		switch {
		case err == nil:
			renewed = time.Now()
		case failure.CodeOf(err) == failure.Conflict:
			end(lipsync.ErrLost)
		case time.Since(renewed) > lipsync.Lease*3/4:
			end(fmt.Errorf("%w: %w", errSilent, err))
		default:
			log.Warn("renew", "error", err)
		}
	}
}

// watch reports progress and notices cancels until ctx ends. If the store does not answer, it
// leaves the decision to renew.
func (w *Worker) watch(ctx context.Context, end context.CancelCauseFunc, r lipsync.Request, m *meter) {
	var told lipsync.Progress
	for pause(ctx, watchInterval) {
		now := m.read()
		err := w.update(ctx, r, told, now)
		switch {
		case err == nil:
			told = now
		case failure.CodeOf(err) == failure.Conflict:
			end(lipsync.ErrLost)
		}
	}
}

// update reports the progress now, if it has changed since told. Otherwise it only reads the
// request, which costs the store less. It returns Conflict if the request was lost or canceled.
func (w *Worker) update(ctx context.Context, r lipsync.Request, told, now lipsync.Progress) error {
	ctx, cancel := context.WithTimeout(ctx, watchTime)
	defer cancel()
	if now == told {
		return w.c.Work.Held(ctx, r)
	}
	return w.c.Work.Report(ctx, r, now)
}

// pause waits, and reports whether ctx has not ended.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
