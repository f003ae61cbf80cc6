package service_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
	"lipsync/internal/domain/service"
	"lipsync/internal/store/disk"
	"lipsync/internal/store/sqlite"
	"lipsync/internal/test/check"
	"lipsync/internal/test/lipsynctest"
)

// ports opens the adapters for one machine, which these tests use instead of fakes.
func ports(t testing.TB, clock *lipsynctest.Clock) (lipsync.Store, *disk.Objects) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "lipsync.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	objects, err := disk.Open(t.TempDir(), clock.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { objects.Close() })
	return store.Store, objects
}

// queue records the messages, and fails if it is set to.
type queue struct {
	mu   sync.Mutex
	sent []string
	down bool
}

func (q *queue) Send(_ context.Context, r lipsync.Request) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.down {
		return errors.New("queue is down")
	}
	q.sent = append(q.sent, r.ID)
	return nil
}

// fixture is a service with the adapters for one machine, and a caller of one account.
type fixture struct {
	*service.Service
	clock  *lipsynctest.Clock
	queue  *queue
	caller lipsync.Caller
	token  string
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	f := &fixture{clock: lipsynctest.NewClock(), queue: &queue{}}
	store, objects := ports(t, f.clock)
	f.Service = lipsynctest.NewService(t, base.Config{GenerateRate: 2, ReadRate: 3, Engines: []string{"warp", "wav2lip"}}, base.Ports{
		Store:   store,
		Objects: objects,
		Hints:   f.queue,
		Now:     f.clock.Now,
	})
	f.token, f.caller = f.newCaller(t, "a", 0)
	return f
}

func (f *fixture) newCaller(t testing.TB, account string, limit int64) (token string, c lipsync.Caller) {
	t.Helper()
	token, k, err := f.CreateKey(t.Context(), account, "laptop", limit)
	check.Must(t, err)
	return token, lipsync.Caller{Account: account, KeyID: k.ID, KeyName: k.Name}
}

// urls returns the parameters of a request with two URLs.
func urls() requests.Params {
	return requests.Params{
		Video:  requests.Source{URL: "https://example.com/v.mp4"},
		Audios: []requests.Track{{Source: requests.Source{URL: "https://example.com/a.wav"}}},
	}
}

// generate makes a request with two URLs and returns its id.
func (f *fixture) generate(t testing.TB, referenceID string) string {
	t.Helper()
	n := urls()
	if referenceID != "" {
		n.ReferenceID = &referenceID
	}
	id, err := f.Generate(t.Context(), f.caller, n)
	check.Must(t, err)
	return id
}

func (f *fixture) wantAttempts(t *testing.T, id string, n int) {
	t.Helper()
	r, err := f.Store.Requests.ByID(t.Context(), id)
	check.Must(t, err)
	check.Want(t, "attempts", r.Attempts, n)
}

func TestCrashes(t *testing.T) {
	lipsynctest.TestCrashes(t, func(t *testing.T) (lipsync.Store, lipsync.Objects) {
		return ports(t, lipsynctest.NewClock())
	})
}

func TestClocks(t *testing.T) {
	lipsynctest.TestClocks(t, func(t *testing.T) (lipsync.Store, lipsync.Objects) {
		return ports(t, lipsynctest.NewClock())
	})
}
