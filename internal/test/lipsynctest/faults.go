package lipsynctest

import (
	"context"
	"io"
	"sync"
	"time"

	"lipsync/internal/domain/lipsync"
)

// fault is the error of an injected fault. It is no *failure.Error, so the outcome of the call is
// not known.
type fault struct{}

func (fault) Error() string { return "injected fault" }

// faults makes one call of the ports fail. It counts the calls of all ports.
type faults struct {
	at       int  // number of the call that fails, from 1; 0 means none
	executed bool // the call takes effect, and only its answer is lost
	fatal    bool // the process ends there: every later call fails too

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

// faulty returns the store with faults in the methods of its ports that requests use.
func faulty(s lipsync.Store, f *faults) lipsync.Store {
	s.Requests, s.Leases, s.Uploads = faultyRequests{s.Requests, f}, faultyLeases{s.Leases, f}, faultyUploads{s.Uploads, f}
	return s
}

type faultyRequests struct {
	lipsync.Requests
	*faults
}

func (s faultyRequests) Create(ctx context.Context, r lipsync.Request, uploads []string, idem *lipsync.Idempotency, limits lipsync.Limits) (created lipsync.Request, replayed bool, err error) {
	err = s.do(func() (err error) {
		created, replayed, err = s.Requests.Create(ctx, r, uploads, idem, limits)
		return err
	})
	return created, replayed, err
}

func (s faultyRequests) ByID(ctx context.Context, id string) (r lipsync.Request, err error) {
	err = s.do(func() (err error) { r, err = s.Requests.ByID(ctx, id); return err })
	return r, err
}

func (s faultyRequests) Uses(ctx context.Context, account, object string) (used bool, err error) {
	err = s.do(func() (err error) { used, err = s.Requests.Uses(ctx, account, object); return err })
	return used, err
}

type faultyLeases struct {
	lipsync.Leases
	*faults
}

func (s faultyLeases) Claim(ctx context.Context, id, token string, now time.Time, lease time.Duration, from lipsync.Choice) (r lipsync.Request, err error) {
	err = s.do(func() (err error) { r, err = s.Leases.Claim(ctx, id, token, now, lease, from); return err })
	return r, err
}

func (s faultyLeases) Renew(ctx context.Context, id, token string, until time.Time) error {
	return s.do(func() error { return s.Leases.Renew(ctx, id, token, until) })
}

func (s faultyLeases) Report(ctx context.Context, id, token string, p lipsync.Progress) error {
	return s.do(func() error { return s.Leases.Report(ctx, id, token, p) })
}

func (s faultyLeases) NoteVideo(ctx context.Context, id, token string, sum [32]byte) error {
	return s.do(func() error { return s.Leases.NoteVideo(ctx, id, token, sum) })
}

func (s faultyLeases) Change(ctx context.Context, id string, t lipsync.Transition) (r lipsync.Request, err error) {
	err = s.do(func() (err error) { r, err = s.Leases.Change(ctx, id, t); return err })
	return r, err
}

type faultyUploads struct {
	lipsync.Uploads
	*faults
}

func (s faultyUploads) Create(ctx context.Context, u lipsync.Upload, limits lipsync.Limits) error {
	return s.do(func() error { return s.Uploads.Create(ctx, u, limits) })
}

func (s faultyUploads) ByID(ctx context.Context, id string) (u lipsync.Upload, err error) {
	err = s.do(func() (err error) { u, err = s.Uploads.ByID(ctx, id); return err })
	return u, err
}

func (s faultyUploads) Drop(ctx context.Context, u lipsync.Upload, expires time.Time) error {
	return s.do(func() error { return s.Uploads.Drop(ctx, u, expires) })
}

func (s faultyUploads) Delete(ctx context.Context, u lipsync.Upload) error {
	return s.do(func() error { return s.Uploads.Delete(ctx, u) })
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

func (o faultyObjects) OpenPart(ctx context.Context, key, version string, offset, size int64) (r io.ReadCloser, err error) {
	err = o.do(func() (err error) { r, err = o.Objects.OpenPart(ctx, key, version, offset, size); return err })
	return r, err
}

func (o faultyObjects) Version(ctx context.Context, key string) (version string, size int64, err error) {
	err = o.do(func() (err error) { version, size, err = o.Objects.Version(ctx, key); return err })
	return version, size, err
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

// faultyQueue loses every message; the store has the waiting requests.
type faultyQueue struct{ *faults }

func (q faultyQueue) Send(context.Context, lipsync.Request) error {
	return q.do(func() error { return nil })
}
