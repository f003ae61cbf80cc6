// Package clienttest is a service in the process of a test, for tests of clients. No worker renders: tests do their work.
package clienttest

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/service"
	"lipsync/internal/http/rest"
	"lipsync/internal/store/disk"
	"lipsync/internal/store/sqlite"
	"lipsync/internal/test/lipsynctest"
)

// Service is a service with an address. It has the rules, the store and the handlers of one machine.
type Service struct {
	*service.Service
	URL *url.URL
	Key string
	API http.Handler // the calls, without the signed URLs

	mu    sync.Mutex
	fault func(http.ResponseWriter, *http.Request) bool
}

// nobody is a queue that nobody reads.
type nobody struct{}

var _ lipsync.Hints = (*nobody)(nil)

func (nobody) Send(context.Context, lipsync.Request) error { return nil }

// New starts a service, which ends with the test.
func New(t testing.TB) *Service {
	t.Helper()
	dir := t.TempDir()
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	quiet := slog.New(slog.DiscardHandler)
	objects, err := disk.Open(filepath.Join(dir, "objects"), time.Now, quiet)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { objects.Close() })
	s := &Service{Service: lipsynctest.NewService(t, base.Config{GenerateRate: 60, ReadRate: 600, MaxVideo: 8 << 20, MaxAudio: 1 << 20, Engines: []string{"warp"}}, base.Ports{
		Store:   store.Store,
		Objects: objects,
		Hints:   nobody{},
	})}
	s.API = rest.New(s.Service, rest.Options{Log: quiet})
	if s.Key, _, err = s.CreateKey(t.Context(), "account", "test", 0); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.broken(w, r):
		case strings.HasPrefix(r.URL.Path, disk.Prefix):
			objects.Handler().ServeHTTP(w, r)
		default:
			s.API.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	if s.URL, err = url.Parse(server.URL); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *Service) broken(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	fault := s.fault
	s.mu.Unlock()
	return fault != nil && fault(w, r)
}

// Break lets fault see each call before the service does. If fault returns true, it has answered the call.
func (s *Service) Break(fault func(http.ResponseWriter, *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// Work claims the next request, as a worker does.
func (s *Service) Work(t testing.TB, id string) lipsync.Request {
	t.Helper()
	r, err := s.Claim(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Finish completes a request with an output. If the output is "", the request fails because no face was found.
func (s *Service) Finish(t testing.TB, r lipsync.Request, output string) {
	t.Helper()
	var err error
	if output == "" {
		err = s.Fail(t.Context(), r, failure.Failure{Code: failure.NoFace})
	} else {
		r.Frames, r.Unsynced = order.Frames{Total: 15, Synced: 12}, order.Unsynced{Gaps: []order.Gap{{Start: .2, End: .32, Reason: order.MouthHidden}}, LeftOut: 1}
		err = s.Complete(t.Context(), r, strings.NewReader(output), int64(len(output)))
	}
	if err != nil {
		t.Fatal(err)
	}
}
