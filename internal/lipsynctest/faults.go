package lipsynctest

import (
	"context"
	"io"
	"sync"
	"time"

	"lipsync/internal/lipsync"
)

// fault is the error of a call that an injected fault hit: no *lipsync.Error,
// so that its outcome is not known.
type fault struct{}

func (fault) Error() string { return "injected fault" }

// faults lets one call of the ports fail, counted over all of them.
type faults struct {
	at       int  // the call that fails, from 1; 0 for none
	executed bool // it takes effect, and only its answer is lost
	fatal    bool // the process ends there: every later call fails as well

	mu    sync.Mutex
	calls int
}

// do makes one call of a port, or fails instead.
func (f *faults) do(call func() error) error {
	f.mu.Lock()
	f.calls++
	hit := f.calls == f.at
	dead := f.fatal && f.at > 0 && f.calls > f.at
	f.mu.Unlock()
	if dead || hit && !f.executed {
		return fault{}
	}
	if err := call(); err != nil || !hit {
		return err
	}
	return fault{}
}

// faultyStore and its siblings put faults before the ports' calls that a
// request makes on its way.
type faultyStore struct {
	lipsync.Store
	*faults
}

func (s faultyStore) Create(ctx context.Context, r lipsync.Request, uploads []string, idem *lipsync.Idempotency, limits lipsync.Limits) (created lipsync.Request, replayed bool, err error) {
	err = s.do(func() (err error) {
		created, replayed, err = s.Store.Create(ctx, r, uploads, idem, limits)
		return err
	})
	return created, replayed, err
}

func (s faultyStore) Get(ctx context.Context, id string) (r lipsync.Request, err error) {
	err = s.do(func() (err error) { r, err = s.Store.Get(ctx, id); return err })
	return r, err
}

func (s faultyStore) Claim(ctx context.Context, id, token string, now time.Time, lease time.Duration) (r lipsync.Request, err error) {
	err = s.do(func() (err error) { r, err = s.Store.Claim(ctx, id, token, now, lease); return err })
	return r, err
}

func (s faultyStore) Renew(ctx context.Context, id, token string, until time.Time) error {
	return s.do(func() error { return s.Store.Renew(ctx, id, token, until) })
}

func (s faultyStore) Report(ctx context.Context, id, token string, p lipsync.Progress) error {
	return s.do(func() error { return s.Store.Report(ctx, id, token, p) })
}

func (s faultyStore) Cancel(ctx context.Context, id string, now time.Time, f lipsync.Failure) (r lipsync.Request, err error) {
	err = s.do(func() (err error) { r, err = s.Store.Cancel(ctx, id, now, f); return err })
	return r, err
}

func (s faultyStore) Release(ctx context.Context, id, token string) error {
	return s.do(func() error { return s.Store.Release(ctx, id, token) })
}

func (s faultyStore) Postpone(ctx context.Context, r lipsync.Request, until time.Time) error {
	return s.do(func() error { return s.Store.Postpone(ctx, r, until) })
}

func (s faultyStore) Finish(ctx context.Context, id, token string, now time.Time, o lipsync.Outcome) error {
	return s.do(func() error { return s.Store.Finish(ctx, id, token, now, o) })
}

func (s faultyStore) CreateUpload(ctx context.Context, u lipsync.Upload, limits lipsync.Limits) error {
	return s.do(func() error { return s.Store.CreateUpload(ctx, u, limits) })
}

func (s faultyStore) GetUpload(ctx context.Context, id string) (u lipsync.Upload, err error) {
	err = s.do(func() (err error) { u, err = s.Store.GetUpload(ctx, id); return err })
	return u, err
}

func (s faultyStore) Uses(ctx context.Context, account, object string) (used bool, err error) {
	err = s.do(func() (err error) { used, err = s.Store.Uses(ctx, account, object); return err })
	return used, err
}

func (s faultyStore) DropUpload(ctx context.Context, u lipsync.Upload, expires time.Time) error {
	return s.do(func() error { return s.Store.DropUpload(ctx, u, expires) })
}

func (s faultyStore) DeleteUpload(ctx context.Context, u lipsync.Upload) error {
	return s.do(func() error { return s.Store.DeleteUpload(ctx, u) })
}

func (s faultyStore) ForgetMedia(ctx context.Context, id string, now time.Time) (r lipsync.Request, err error) {
	err = s.do(func() (err error) { r, err = s.Store.ForgetMedia(ctx, id, now); return err })
	return r, err
}

type faultyObjects struct {
	lipsync.Objects
	*faults
}

func (o faultyObjects) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	return o.do(func() error { return o.Objects.Put(ctx, key, r, size) })
}

func (o faultyObjects) Open(ctx context.Context, key string) (r io.ReadCloser, size int64, err error) {
	err = o.do(func() (err error) { r, size, err = o.Objects.Open(ctx, key); return err })
	return r, size, err
}

func (o faultyObjects) Size(ctx context.Context, key string) (size int64, err error) {
	err = o.do(func() (err error) { size, err = o.Objects.Size(ctx, key); return err })
	return size, err
}

func (o faultyObjects) Delete(ctx context.Context, key string) error {
	return o.do(func() error { return o.Objects.Delete(ctx, key) })
}

func (o faultyObjects) DeleteAll(ctx context.Context, prefix string) error {
	return o.do(func() error { return o.Objects.DeleteAll(ctx, prefix) })
}

// faultyQueue loses every message: the store is the truth.
type faultyQueue struct{ *faults }

func (q faultyQueue) Send(context.Context, string) error {
	return q.do(func() error { return nil })
}
