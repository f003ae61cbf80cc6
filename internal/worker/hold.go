package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"lipsync/internal/lipsync"
)

const (
	// lookEvery is how often a worker tells how far it is, or looks whether its
	// request was canceled: a canceled one has to stop within two seconds.
	lookEvery = time.Second
	// lookTime bounds one look. There will be another.
	lookTime = 5 * time.Second
)

// Why an attempt's context ends, other than with the worker.
var (
	errLost   = errors.New("lease lost")
	errSilent = errors.New("lease not renewed: the store doesn't answer")
)

// hold keeps the request, and tells how far it is by m, until drop is called. The
// context that it returns ends when the lease is lost.
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
		err := w.Service.Renew(ctx, r)
		switch {
		case err == nil:
			renewed = time.Now()
		case lipsync.CodeOf(err) == lipsync.Conflict:
			end(errLost)
		case time.Since(renewed) > lipsync.Lease*3/4:
			end(fmt.Errorf("%w: %w", errSilent, err))
		default:
			log.Warn("renew", "error", err)
		}
	}
}

// watch looks after the request until ctx ends. That the store doesn't answer is
// for renew to judge.
func (w *Worker) watch(ctx context.Context, end context.CancelCauseFunc, r lipsync.Request, m *meter) {
	var told lipsync.Progress
	for pause(ctx, lookEvery) {
		now := m.read()
		err := w.look(ctx, r, told, now)
		switch {
		case err == nil:
			told = now
		case lipsync.CodeOf(err) == lipsync.Conflict:
			end(errLost)
		}
	}
}

// look tells how far the request is, if that is new. Else it only reads, which
// costs the store less. Conflict if the request was lost or canceled.
func (w *Worker) look(ctx context.Context, r lipsync.Request, told, now lipsync.Progress) error {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	if now == told {
		return w.Service.Held(ctx, r)
	}
	return w.Service.Report(ctx, r, now)
}

// pause waits, and reports whether ctx goes on.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
