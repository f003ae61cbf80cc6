package worker_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
	"lipsync/internal/http/fetch"
	"lipsync/internal/render"
	"lipsync/internal/test/lipsynctest"
)

// sendTo makes a request whose output is sent to the URL.
func (f *fixture) sendTo(t *testing.T, url string) string {
	t.Helper()
	id, err := f.Service.Generate(context.Background(), f.caller, requests.Params{
		Video: requests.Source{URL: "http://web/video"}, Audios: []requests.Track{{Source: requests.Source{URL: "http://web/audio"}}},
		Order: order.Order{Output: order.Output{Format: order.WebM, UploadURL: order.UploadURL(url)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestSend sends outputs to servers by the real client. The log never has the signature.
func TestSend(t *testing.T) {
	var got []string
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, _ := io.ReadAll(r.Body)
		got = append(got, fmt.Sprintf("%s %s %s %d %v %s", r.Method, r.URL, r.Header.Get("Content-Type"), r.ContentLength, r.TransferEncoding, content))
		w.WriteHeader(status)
	}))
	defer server.Close()
	for _, c := range []struct {
		status  int
		private bool // private networks are allowed
		code    failure.Reason
		failure string
	}{
		{200, true, "", ""},
		{403, true, failure.UploadRefused, "output could not be sent: the server answered 403"},
		{307, true, failure.UploadRefused, "output could not be sent: the server answered 307"},
		{200, false, failure.UploadPrivate, "output could not be sent: upload_url is not accessible"},
	} {
		got, status = nil, c.status
		f := setup(t, concatenate)
		var log bytes.Buffer
		f.Config().Log = slog.New(slog.NewTextHandler(&log, nil))
		f.Config().Sender = fetch.New(fetch.Options{AllowPrivate: c.private, Total: time.Minute, Stall: time.Minute})
		id := f.sendTo(t, server.URL+"/talk?signature=secret")
		f.Do(t.Context(), id)
		r := f.get(t, id)
		if c.failure == "" {
			f.want(t, id, lipsync.Completed, "", 1)
			if f.output(t, id) != "videoaudio" {
				t.Error("the service has no copy of the output")
			}
		} else {
			f.want(t, id, lipsync.Failed, c.failure, 1)
		}
		if r.Failure.Code != c.code || strings.Contains(log.String(), "secret") {
			t.Errorf("%d: got %q, want %q and no signature in the log:\n%s", c.status, r.Failure.Code, c.code, &log)
		}
		if want := "PUT /talk?signature=secret video/webm 10 [] videoaudio"; c.private && (len(got) != 1 || got[0] != want) || !c.private && len(got) > 0 {
			t.Errorf("%d: the server got %q, want %q", c.status, got, want)
		}
	}
}

// sender is a Sender that returns the first of its errors each time.
type sender []error

func (s *sender) Send(context.Context, string, io.ReaderAt, int64, string) (err error) {
	if len(*s) > 0 {
		err, *s = (*s)[0], (*s)[1:]
	}
	return err
}

// fullObjects can't store outputs as long as it is full.
type fullObjects struct {
	lipsync.Objects
	full bool
}

func (o *fullObjects) Put(ctx context.Context, key string, from io.Reader, size int64) error {
	if o.full && strings.HasPrefix(key, "outputs/") {
		return syscall.ENOSPC
	}
	return o.Objects.Put(ctx, key, from, size)
}

// TestSendStored has a full disk. Nothing is sent until the output is stored. An output that can't be sent does not stay.
func TestSendStored(t *testing.T) {
	f := setup(t, concatenate)
	objects := &fullObjects{f.Service.Objects, true}
	f.Service.Objects = objects
	refused := sender{&failure.Error{Code: failure.NotFound}}
	f.Config().Sender = &refused
	id := f.sendTo(t, "https://storage.example/")
	f.Do(t.Context(), id)
	if len(refused) == 0 {
		t.Error("the output was sent and not stored")
	}
	f.want(t, id, lipsync.Processing, "", 0)
	objects.full = false
	if err := lipsynctest.EndPause(t.Context(), f.Service.Store.Leases, f.get(t, id), time.Now()); err != nil {
		t.Fatal(err)
	}
	f.Do(t.Context(), id)
	f.want(t, id, lipsync.Failed, "output could not be sent: upload_url is not accessible", 1)
	f.wantNoObjects(t)
}

// TestSendAgain has storages that fail for a while. The request is postponed, without losing an attempt,
// and completes; meanwhile no output stays. Without an URL nothing is sent.
func TestSendAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rendered := 0
		f := setup(t, func(ctx context.Context, j render.Job) error {
			rendered++
			return concatenate(ctx, j)
		})
		var told []error
		for _, code := range []failure.Code{failure.Unavailable, failure.TooSlow, failure.NoHost} {
			told = append(told, &failure.Error{Code: code, RetryAfter: 2 * time.Minute})
		}
		f.Config().Sender = (*sender)(&told)
		id := f.sendTo(t, "https://storage.example/")
		for n := range 3 {
			if found, err := f.Worker.Do(t.Context(), id); !found || err != nil {
				t.Errorf("got %t and %v, want true and no error", found, err)
			}
			f.want(t, id, lipsync.Processing, "", 0)
			f.wantNoObjects(t)
			r := f.get(t, id)
			if pause := time.Until(r.LeaseUntil); r.Delays != n+1 || pause < 119*time.Second {
				t.Errorf("got %d delays and a pause of %s, want %d and 2 minutes", r.Delays, pause, n+1)
			}
			time.Sleep(time.Until(r.LeaseUntil))
		}
		f.Do(t.Context(), id)
		f.want(t, id, lipsync.Completed, "", 1)
		if rendered != 4 {
			t.Errorf("rendered %d times, want 4", rendered)
		}
		told = []error{&failure.Error{Code: failure.NotFound}}
		plain := f.request(t, "video", "audio")
		f.Do(t.Context(), plain)
		f.want(t, plain, lipsync.Completed, "", 1)
		f.Do(t.Context(), f.sendTo(t, "https://storage.example/"))
		if len(told) != 0 {
			t.Error("nothing was sent")
		}
	})
}
