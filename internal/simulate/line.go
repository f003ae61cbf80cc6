package simulate

import (
	"context"
	"errors"
	"time"

	"lipsync/internal/lipsync"
	"lipsync/internal/simulate/table"
)

// errDead is what a process gets that was killed.
var errDead = errors.New("the process was killed")

// line is a worker's way to the store, which ends when the worker is killed. What a worker does
// each second takes no time, as nothing waits for it; and while it has its lease, only that is
// looked up, as nobody reads the progress.
type line struct {
	lipsync.Store
	demand lipsync.Demand
	table  *table.Table
	p      *process

	token *string // of the lease that Claim got
}

// over makes a call, unless the worker is dead by then.
func (l line) over(f func() error) error {
	if l.p.killed() {
		return errDead
	}
	err := f()
	if l.p.killed() {
		return errDead
	}
	return err
}

func (l line) Claim(ctx context.Context, id, token string, now time.Time, lease time.Duration) (r lipsync.Request, err error) {
	err = l.over(func() (err error) { r, err = l.Store.Claim(ctx, id, token, now, lease); return err })
	*l.token = token
	return r, err
}

func (l line) Get(ctx context.Context, id string) (r lipsync.Request, err error) {
	if !l.p.killed() && l.table.Holds(id, *l.token, false) {
		return lipsync.Request{ID: id, Lease: *l.token}, nil
	}
	err = l.over(func() (err error) { r, err = l.Store.Get(table.Instant(ctx), id); return err })
	return r, err
}

func (l line) Renew(ctx context.Context, id, token string, until time.Time) error {
	return l.over(func() error { return l.Store.Renew(table.Instant(ctx), id, token, until) })
}

func (l line) Report(ctx context.Context, id, token string, p lipsync.Progress) error {
	if !l.p.killed() && l.table.Holds(id, token, true) {
		return nil
	}
	return l.over(func() error { return l.Store.Report(table.Instant(ctx), id, token, p) })
}

func (l line) Release(ctx context.Context, id, token string) error {
	return l.over(func() error { return l.Store.Release(ctx, id, token) })
}

func (l line) Postpone(ctx context.Context, r lipsync.Request, until time.Time) error {
	return l.over(func() error { return l.Store.Postpone(ctx, r, until) })
}

func (l line) Finish(ctx context.Context, id, token string, now time.Time, o lipsync.Outcome) error {
	return l.over(func() error { return l.Store.Finish(ctx, id, token, now, o) })
}

// Waiting, TakeTurn and Worked implement lipsync.Demand.
func (l line) Waiting(ctx context.Context, now time.Time, limit int) (int, error) {
	return l.demand.Waiting(ctx, now, limit)
}

func (l line) TakeTurn(ctx context.Context, now, until time.Time) (time.Duration, error) {
	return l.demand.TakeTurn(ctx, now, until)
}

func (l line) Worked(ctx context.Context, took time.Duration) (all time.Duration, err error) {
	err = l.over(func() (err error) { all, err = l.demand.Worked(ctx, took); return err })
	return all, err
}
