package lipsynctest

import (
	"context"
	"time"

	"lipsync/internal/domain/lipsync"
)

// Finish makes a held request final: see lipsync.Request.Ended.
func Finish(ctx context.Context, s lipsync.Leases, id, token string, now time.Time, o lipsync.Outcome) error {
	_, err := s.Change(ctx, id, func(r lipsync.Request) (lipsync.Request, error) { return r.Ended(token, now, o) })
	return err
}

// Cancel ends an open request: see lipsync.Request.Canceled.
func Cancel(ctx context.Context, s lipsync.Leases, id string, now time.Time) (lipsync.Request, error) {
	return s.Change(ctx, id, func(r lipsync.Request) (lipsync.Request, error) { return r.Canceled(now) })
}

// Release gives a held request back: see lipsync.Request.Released.
func Release(ctx context.Context, s lipsync.Leases, id, token string) error {
	_, err := s.Change(ctx, id, func(r lipsync.Request) (lipsync.Request, error) { return r.Released(token) })
	return err
}

// Postpone ends a held lease for a pause: see lipsync.Request.Postponed.
func Postpone(ctx context.Context, s lipsync.Leases, attempted lipsync.Request, until time.Time) error {
	_, err := s.Change(ctx, attempted.ID, func(r lipsync.Request) (lipsync.Request, error) { return r.Postponed(attempted, until) })
	return err
}

// EndPause ends the pause of a request: see lipsync.Request.Resumed.
func EndPause(ctx context.Context, s lipsync.Leases, postponed lipsync.Request, now time.Time) error {
	_, err := s.Change(ctx, postponed.ID, func(r lipsync.Request) (lipsync.Request, error) { return r.Resumed(postponed.LeaseUntil, now) })
	return err
}

func forgetMedia(ctx context.Context, s lipsync.Leases, id string, now time.Time) (lipsync.Request, error) {
	return s.Change(ctx, id, func(r lipsync.Request) (lipsync.Request, error) { return r.WithoutMedia(now) })
}
