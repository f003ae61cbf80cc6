package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"

	"lipsync/internal/domain/lipsync"
)

// metadata is a fake of an instance's metadata service. It has a notice after warn.
type metadata struct {
	*httptest.Server
	notice atomic.Value // a string
	asked  atomic.Int32 // calls without a notice
	seen   atomic.Int32
}

func newMetadata(t *testing.T) *metadata {
	m := new(metadata)
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		notice, ok := m.notice.Load().(string)
		switch {
		case r.Method == http.MethodPut && r.URL.Path == "/latest/api/token":
			w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "21600")
			_, _ = io.WriteString(w, "token")
		case r.Header.Get("X-Aws-Ec2-Metadata-Token") != "token":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path != "/latest/meta-data/spot/instance-action" || !ok:
			m.asked.Add(1)
			w.WriteHeader(http.StatusNotFound)
		default:
			m.seen.Add(1)
			_, _ = io.WriteString(w, notice)
		}
	}))
	t.Cleanup(m.Close)
	return m
}

func (m *metadata) client() *imds.Client { return imds.New(imds.Options{Endpoint: m.URL}) }

// warn announces that the instance ends after the duration.
func (m *metadata) warn(after time.Duration) {
	m.notice.Store(fmt.Sprintf(`{"action": "terminate", "time": %q}`, time.Now().Add(after).UTC().Format(time.RFC3339)))
}

func TestNotice(t *testing.T) {
	for notice, want := range map[string]time.Duration{
		`{"action": "terminate", "time": "` + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + `"}`: time.Hour,
		`{"action": "hibernate"}`: noticeTime, "": noticeTime, "x": noticeTime,
	} {
		m := newMetadata(t)
		m.notice.Store(notice)
		end, ok := awaitNotice(t.Context(), m.client(), slog.New(slog.DiscardHandler))
		if got := time.Until(end); !ok || got < want-10*time.Second || got > want {
			t.Errorf("%q: the machine ends in %s (%t), want %s", notice, got, ok, want)
		}
	}
}

// TestNoNotice waits for a notice that never comes. awaitNotice must check until its context ends,
// and log nothing.
func TestNoNotice(t *testing.T) {
	m := newMetadata(t)
	var log bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, ok := awaitNotice(ctx, m.client(), slog.New(slog.NewTextHandler(&log, nil))); ok || m.asked.Load() == 0 || log.Len() > 0 {
		t.Errorf("got a notice: %t; asked %d times; log %s", ok, m.asked.Load(), &log)
	}
}

// silence is a metadata service that does not answer. It records the times of its calls in seconds.
type silence map[int64]bool

// Do implements imds.HTTPClient.
func (s silence) Do(*http.Request) (*http.Response, error) {
	s[time.Now().Unix()] = true
	return nil, errors.New("no answer")
}

// TestNoMetadata waits for a notice without a metadata service. awaitNotice must go on checking, and
// log the missing answers once.
func TestNoMetadata(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := make(silence)
		var log bytes.Buffer
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		client := imds.New(imds.Options{HTTPClient: asked, Retryer: aws.NopRetryer{}})
		if _, ok := awaitNotice(ctx, client, slog.New(slog.NewTextHandler(&log, nil))); ok || len(asked) < 10 {
			t.Errorf("got a notice: %t; asked in %d seconds of a minute", ok, len(asked))
		}
		if n := strings.Count(log.String(), "level=WARN"); n != 1 {
			t.Errorf("logged %d times that nothing answers, want once: %s", n, &log)
		}
	})
}

// TestReclaimed gives notice of a reclaim while a request is rendered. If the machine ends soon, the
// request must be released; if it ends later, the request must complete. No other request may begin.
func TestReclaimed(t *testing.T) {
	for name, c := range map[string]struct {
		after    time.Duration
		status   lipsync.Status
		attempts int
	}{"too soon": {noticeMargin, lipsync.Processing, 0}, "late enough": {5 * time.Minute, lipsync.Completed, 1}} {
		t.Run(name, func(t *testing.T) {
			a, m := newAccount(t), newMetadata(t)
			t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", m.URL)
			own, other := a.request(t, face(t), sound(t)), a.request(t, noFace(t), sound(t))
			log := a.run(t, t.Context(), 2, done, func(line []byte) {
				if bytes.Contains(line, []byte(`"msg":"started"`)) {
					m.warn(c.after)
					for deadline := time.Now().Add(30 * time.Second); m.seen.Load() == 0 && time.Now().Before(deadline); {
						time.Sleep(10 * time.Millisecond)
					}
				}
			})
			a.want(t, own, c.status, "", c.attempts)
			a.want(t, other, lipsync.Queued, "", 0)
			if !strings.Contains(log, "this machine is reclaimed") {
				t.Errorf("got log %s, want the notice in it", log)
			}
		})
	}
}
