package fetch

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// TestPost calls receivers that answer well and badly. Each gets one call, and no redirect is followed.
func TestPost(t *testing.T) {
	for name, c := range map[string]struct {
		answer     func(w http.ResponseWriter, r *http.Request)
		status     int
		retryAfter time.Duration
		code       failure.Code
	}{
		"ok":        {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, 204, 0, ""},
		"redirects": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/other", http.StatusFound) }, 302, 0, ""},
		"gone":      {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(410) }, 410, 0, ""},
		"busy": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "90")
			w.WriteHeader(503)
		}, 503, 90 * time.Second, ""},
		"closes half-way": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 0, 0, failure.Unavailable},
		"slow":            {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 0, 0, failure.TooSlow},
		"endless body": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		}, 200, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls.Add(1)
				body, err := io.ReadAll(r.Body)
				if err != nil || string(body) != `{"a":1}` || r.Method != http.MethodPost || r.Header.Get("Webhook-Id") != "msg_1" || r.URL.String() != "/hook?a=b" {
					t.Errorf("got %s %s of %q (%v)", r.Method, r.URL, body, err)
				}
				c.answer(w, r)
			}))
			defer server.Close()
			client := New(Options{AllowPrivate: true, Total: time.Second, Stall: time.Second})
			got, err := client.Post(t.Context(), server.URL+"/hook?a=b", http.Header{"Webhook-Id": {"msg_1"}}, []byte(`{"a":1}`))
			if want := (lipsync.Answer{Status: c.status, RetryAfter: c.retryAfter}); got != want || failure.CodeOf(err) != c.code {
				t.Errorf("got %+v and %q (%v), want %+v and %q", got, failure.CodeOf(err), err, want, c.code)
			}
			if calls.Load() != 1 {
				t.Errorf("got %d calls, want 1", calls.Load())
			}
		})
	}
}

// TestPostRefused calls URLs that must not be called.
func TestPostRefused(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a private address was called") }))
	defer server.Close()
	for url, want := range map[string]failure.Code{
		server.URL: failure.PrivateHost, "http://169.254.169.254/": failure.NotFound, "ftp://example.com/": failure.NotFound,
		"https://receiver.invalid/": failure.NotFound, "%": failure.NotFound,
	} {
		_, err := New(Options{Total: time.Second, Stall: time.Second}).Post(t.Context(), url, http.Header{}, nil)
		if got := failure.CodeOf(err); got != want {
			t.Errorf("%s: got %q (%v), want %q", url, got, err, want)
		}
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(Options{AllowPrivate: true, Total: time.Second, Stall: time.Second}).Post(canceled, "http://127.0.0.1:1/", http.Header{}, nil); err != context.Canceled {
		t.Errorf("got %v, want the end of the context", err)
	}
}
