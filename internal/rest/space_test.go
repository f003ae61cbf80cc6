package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"syscall"
	"testing"
	"time"

	"lipsync/internal/lipsync"
)

// fullLeases and fullRequests are ports of a store on a full disk.
type fullLeases struct{ lipsync.Leases }

func (fullLeases) Cancel(context.Context, string, time.Time, lipsync.Failure) (lipsync.Request, error) {
	return lipsync.Request{}, lipsync.ErrNoSpace(syscall.ENOSPC)
}

type fullRequests struct{ lipsync.Requests }

func (fullRequests) ForgetMedia(context.Context, string, time.Time) (lipsync.Request, error) {
	return lipsync.Request{}, lipsync.ErrNoSpace(syscall.ENOSPC)
}

// callFullDisk makes the calls that a service with a full disk refuses, and one call that it
// answers.
func (f *fixture) callFullDisk(t *testing.T, c *http.Client, base string) {
	t.Helper()
	token := f.key(t)
	id, canceled := f.start(t, token, time.Now()), f.start(t, token, time.Now())
	caller, err := f.service.Authenticate(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	analysis, err := f.service.Analyze(t.Context(), caller, lipsync.Source{URL: "https://example.com/v"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.store.Leases.Cancel(t.Context(), canceled, time.Now(), lipsync.Failure{Code: lipsync.Canceled}); err != nil {
		t.Fatal(err)
	}
	f.service.Room = func(int64) error { return lipsync.ErrNoSpace(nil) }
	f.service.Store.Leases, f.service.Store.Requests = fullLeases{f.store.Leases}, fullRequests{f.store.Requests}
	defer func() { f.service.Room, f.service.Store = nil, f.store.Store }()
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	for _, kind := range []string{"video", "audio"} {
		if w, err := parts.CreateFormFile(kind, kind); err != nil {
			t.Fatal(err)
		} else if _, err := io.WriteString(w, kind); err != nil {
			t.Fatal(err)
		}
	}
	if err := parts.Close(); err != nil {
		t.Fatal(err)
	}
	const generate = `{"inputs":[{"type":"video","url":"https://example.com/v"},{"type":"audio","url":"https://example.com/a"}]}`
	for _, call := range []struct {
		method, path, contentType, body string
		status                          int
	}{
		{http.MethodPost, "/lipsync/generate", "application/json", generate, http.StatusInsufficientStorage},
		{http.MethodPost, "/lipsync/analyze", "application/json", `{"url":"https://example.com/v"}`, http.StatusInsufficientStorage},
		{http.MethodPost, "/lipsync/generate-with-media", parts.FormDataContentType(), form.String(), http.StatusInsufficientStorage},
		{http.MethodPost, "/uploads", "application/json", `{"type":"video","size":5}`, http.StatusInsufficientStorage},
		{http.MethodDelete, "/lipsync/requests/" + id, "", "", http.StatusInsufficientStorage},
		{http.MethodDelete, "/lipsync/requests/" + canceled + "/media", "", "", http.StatusInsufficientStorage},
		{http.MethodDelete, "/lipsync/analyses/" + analysis, "", "", http.StatusInsufficientStorage},
		{http.MethodGet, "/lipsync/requests/" + id, "", "", http.StatusOK},
	} {
		r, err := http.NewRequest(call.method, base+"/api/v1"+call.path, bytes.NewBufferString(call.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("x-api-key", token)
		r.Header.Set("Content-Type", call.contentType)
		resp, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var got struct{ Error string }
		err = json.NewDecoder(resp.Body).Decode(&got)
		refused := got.Error == "the service has too little disk space; try again later" && resp.Header.Get("Retry-After") == "60"
		if err != nil || resp.StatusCode != call.status || refused != (call.status == http.StatusInsufficientStorage) {
			t.Errorf("%s %s: got %d %q, Retry-After %q (%v), want %d", call.method, call.path, resp.StatusCode, got.Error, resp.Header.Get("Retry-After"), err, call.status)
		}
	}
}
