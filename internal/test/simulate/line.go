package simulate

import (
	"context"
	"errors"
	"sync"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb"
	"lipsync/internal/test/simulate/table"
)

// errDead is the error of calls by a killed process.
var errDead = errors.New("the process was killed")

// line is a worker's connection to the store, which ends when the worker is killed. The calls that
// a worker makes every second take no simulated time, since nothing waits for them. While the
// worker has its lease, they only look up the lease, since nobody reads the progress.
type line struct {
	table  *table.Table
	p      *process
	tokens *sync.Map // of the leases that Claim returned, by request
}

// to returns the store as the worker reaches it.
func (l line) to(s *dynamodb.Store) (lipsync.Store, lipsync.Demand) {
	store := s.Store
	store.Requests, store.Leases = lineRequests{store.Requests, l}, lineLeases{store.Leases, l}
	return store, lineDemand{s.Queue, l}
}

type lineRequests struct {
	lipsync.Requests
	line
}

type lineLeases struct {
	lipsync.Leases
	line
}

type lineDemand struct {
	lipsync.Demand
	line
}

// over makes a call. It returns errDead if the worker was killed before or during the call.
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

func (l lineLeases) Claim(ctx context.Context, id, token string, now time.Time, lease time.Duration, from lipsync.Choice) (r lipsync.Request, err error) {
	err = l.over(func() (err error) { r, err = l.Leases.Claim(ctx, id, token, now, lease, from); return err })
	l.tokens.Store(r.ID, token)
	return r, err
}

func (l lineRequests) ByID(ctx context.Context, id string) (r lipsync.Request, err error) {
	token, _ := l.tokens.Load(id)
	if token, ok := token.(string); ok && !l.p.killed() && l.table.Holds(id, token, false) {
		return lipsync.Request{ID: id, Lease: token}, nil
	}
	err = l.over(func() (err error) { r, err = l.Requests.ByID(table.Instant(ctx), id); return err })
	return r, err
}

func (l lineLeases) Renew(ctx context.Context, id, token string, until time.Time) error {
	return l.over(func() error { return l.Leases.Renew(table.Instant(ctx), id, token, until) })
}

func (l lineLeases) Report(ctx context.Context, id, token string, p lipsync.Progress) error {
	if !l.p.killed() && l.table.Holds(id, token, true) {
		return nil
	}
	return l.over(func() error { return l.Leases.Report(table.Instant(ctx), id, token, p) })
}

func (l lineLeases) Change(ctx context.Context, id string, t lipsync.Transition) (r lipsync.Request, err error) {
	err = l.over(func() (err error) { r, err = l.Leases.Change(ctx, id, t); return err })
	return r, err
}

func (l lineDemand) Worked(ctx context.Context, s lipsync.Stint) (all time.Duration, err error) {
	err = l.over(func() (err error) { all, err = l.Demand.Worked(ctx, s); return err })
	return all, err
}
