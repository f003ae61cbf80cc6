package client

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Retry says what a Client does after a fault that may pass: no connection, one that broke, status 408, 425, 429 or 5xx.
// The zero value tries nothing again.
type Retry struct {
	// Patience is the sum of the pauses between the tries of one call. Pauses for which the service asks by a status
	// 429 don't count, since the service works.
	Patience time.Duration
	// Sleep waits for the time, or returns the error of a context that ends before.
	Sleep func(context.Context, time.Duration) error
	// Random returns a number from 0 to 1, to which each pause is prolonged, so that clients don't all come back at once.
	Random func() float64
	// Tell gets each fault, and the pause that follows it; nil for nobody.
	Tell func(fault error, pause time.Duration)
}

// Pauses after faults double from the first to the longest.
const (
	firstPause   = time.Second
	longestPause = 30 * time.Second
)

// Pause is a Sleep on the real clock.
func Pause(ctx context.Context, t time.Duration) error {
	timer := time.NewTimer(t)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// do tries until it succeeds, meets a fault that doesn't pass, or has no patience left. It returns the last error.
func (r Retry) do(ctx context.Context, try func(context.Context) error) error {
	next, left := firstPause, r.Patience
	for {
		err := try(ctx)
		if err == nil || r.Sleep == nil || ctx.Err() != nil || !passes(err) {
			return err
		}
		pause := next + time.Duration(r.Random()*float64(next)/2)
		next = min(2*next, longestPause)
		if answer, ok := errors.AsType[*Error](err); ok {
			pause = max(pause, answer.After)
		}
		if StatusOf(err) != http.StatusTooManyRequests {
			if left -= pause; left < 0 {
				return err
			}
		}
		if r.Tell != nil {
			r.Tell(err, pause)
		}
		if err := r.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// passes reports whether a call that failed with the error may succeed later.
func passes(err error) bool {
	answer, ok := errors.AsType[*Error](err)
	if !ok {
		return broke(err)
	}
	switch answer.Status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	case http.StatusInsufficientStorage: // of the disk, not of the account
		return answer.After > 0
	default:
		return answer.Status >= http.StatusInternalServerError
	}
}

// broke reports whether the error is one of a connection, and not of a local file.
func broke(err error) bool {
	_, ofFile := errors.AsType[*fs.PathError](err)
	_, ofCall := errors.AsType[*url.Error](err)
	_, ofNet := errors.AsType[net.Error](err)
	return !ofFile && (ofCall || ofNet || errors.Is(err, io.ErrUnexpectedEOF))
}
