package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"lipsync/internal/domain/batches"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
	"lipsync/internal/test/lipsynctest"
)

// fullBatches is a lipsync.Batches on a full disk.
type fullBatches struct{ lipsync.Batches }

func (fullBatches) Swap(context.Context, lipsync.Batch) error { return failure.ErrNoSpace(nil) }

// fullLeases is a lipsync.Leases on a full disk.
type fullLeases struct{ lipsync.Leases }

func (fullLeases) Change(context.Context, string, lipsync.Transition) (lipsync.Request, error) {
	return lipsync.Request{}, failure.ErrNoSpace(syscall.ENOSPC)
}

type fullWebhooks struct{ lipsync.Webhooks }

func (fullWebhooks) Put(context.Context, lipsync.AccountWebhooks) error {
	return failure.ErrNoSpace(syscall.ENOSPC)
}

func (fullWebhooks) Add(context.Context, lipsync.Delivery) error {
	return failure.ErrNoSpace(syscall.ENOSPC)
}

func (fullWebhooks) Swap(context.Context, lipsync.Delivery) error {
	return failure.ErrNoSpace(syscall.ENOSPC)
}

// finishedDelivery returns the paths of a webhook and of a delivery that failed.
func (f *fixture) finishedDelivery(t *testing.T, c lipsync.Caller) (webhook, delivery string) {
	t.Helper()
	w, err := f.service.CreateWebhook(t.Context(), c, "https://x.example/", []lipsync.EventType{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := f.service.TestWebhook(t.Context(), c, w.ID)
	if d.State = lipsync.DeliveryFailed; err == nil {
		err = f.store.Webhooks.Swap(t.Context(), d)
	}
	if err != nil {
		t.Fatal(err)
	}
	return "/webhooks/" + w.ID, "/webhooks/" + w.ID + "/deliveries/" + d.ID
}

// callDisabled makes the calls that are refused for a disabled webhook, and one that isn't refused for
// another.
func (f *fixture) callDisabled(t *testing.T, c *http.Client, base string) {
	t.Helper()
	token := f.key(t)
	caller, err := f.service.Authenticate(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	webhook, delivery := f.finishedDelivery(t, caller)
	const message = "webhook is disabled, since its URL answered 410; enable it first"
	for _, call := range []struct {
		path, message string
	}{{delivery + "/redeliver", ""}, {webhook + "/redeliver", ""}, {"", ""}, {webhook + "/test", message}, {delivery + "/redeliver", message}, {webhook + "/redeliver", message}} {
		if call.path == "" {
			a, err := f.store.Webhooks.Of(t.Context(), caller.Account)
			if err != nil {
				t.Fatal(err)
			}
			a.List[0].DisabledAt = time.Now()
			if err := f.store.Webhooks.Put(t.Context(), a); err != nil {
				t.Fatal(err)
			}
			continue
		}
		r, err := http.NewRequest(http.MethodPost, base+"/api/v1"+call.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("x-api-key", token)
		resp, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Error string }
		err = json.NewDecoder(resp.Body).Decode(&got)
		resp.Body.Close()
		if err != nil || got.Error != call.message || (resp.StatusCode == http.StatusConflict) != (call.message != "") {
			t.Errorf("%s: got %d %q (%v), want %q", call.path, resp.StatusCode, got.Error, err, call.message)
		}
	}
}

// callUndelivered makes a generate call for an account that has too many undelivered events.
func (f *fixture) callUndelivered(t *testing.T, c *http.Client, base string) {
	t.Helper()
	token := f.key(t)
	caller, err := f.service.Authenticate(t.Context(), token)
	if err == nil {
		_, err = f.service.CreateWebhook(t.Context(), caller, "https://example.com/hook", nil)
	}
	a, getErr := f.store.Webhooks.Of(t.Context(), caller.Account)
	a.Full = true
	if err := errors.Join(err, getErr, f.store.Webhooks.Put(t.Context(), a)); err != nil {
		t.Fatal(err)
	}
	body := `{"inputs":[{"type":"video","url":"https://example.com/v"},{"type":"audio","url":"https://example.com/a"}]}`
	r, err := http.NewRequest(http.MethodPost, base+"/api/v1/lipsync/generate", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"X-Api-Key": {token}, "Content-Type": {"application/json"}}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var got struct{ Error string }
	err = json.NewDecoder(resp.Body).Decode(&got)
	const want = "account has as many undelivered events as it may have, 100000; delete the webhook that doesn't take them, or try again later"
	if err != nil || resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") != "60" || got.Error != want {
		t.Errorf("got %d after %s: %q (%v)", resp.StatusCode, resp.Header.Get("Retry-After"), got.Error, err)
	}
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
	analysis, err := f.service.Analyze(t.Context(), caller, requests.Source{URL: "https://example.com/v"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lipsynctest.Cancel(t.Context(), f.store.Leases, canceled, time.Now()); err != nil {
		t.Fatal(err)
	}
	line := batches.Variant{Video: "https://example.com/v", Audio: "https://example.com/a"}
	made, _, err := f.service.CreateBatch(t.Context(), caller, batches.Params{Lines: []batches.Variant{line}})
	if err != nil {
		t.Fatal(err)
	}
	webhook, delivery := f.finishedDelivery(t, caller)
	f.service.Room = func(int64) error { return failure.ErrNoSpace(nil) }
	f.service.Store.Leases = fullLeases{f.store.Leases}
	f.service.Store.Webhooks, f.service.Store.Batches = fullWebhooks{f.store.Webhooks}, fullBatches{f.store.Batches}
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
		{http.MethodPost, "/lipsync/estimate", "application/json", generate, http.StatusInsufficientStorage},
		{http.MethodPost, "/lipsync/batches", "application/json", `{"variants":[{"video":"https://example.com/v","audio":"https://example.com/a"}]}`, http.StatusInsufficientStorage},
		{http.MethodDelete, "/lipsync/batches/" + made.ID, "", "", http.StatusInsufficientStorage},
		{http.MethodPost, "/lipsync/analyze", "application/json", `{"url":"https://example.com/v"}`, http.StatusInsufficientStorage},
		{http.MethodPost, "/lipsync/generate-with-media", parts.FormDataContentType(), form.String(), http.StatusInsufficientStorage},
		{http.MethodPost, "/uploads", "application/json", `{"type":"video","size":5}`, http.StatusInsufficientStorage},
		{http.MethodDelete, "/lipsync/requests/" + id, "", "", http.StatusInsufficientStorage},
		{http.MethodDelete, "/lipsync/requests/" + canceled + "/media", "", "", http.StatusInsufficientStorage},
		{http.MethodDelete, "/lipsync/requests/" + canceled + "/record", "", "", http.StatusInsufficientStorage},
		{http.MethodDelete, "/lipsync/records", "", "", http.StatusInsufficientStorage},
		{http.MethodDelete, "/lipsync/analyses/" + analysis, "", "", http.StatusInsufficientStorage},
		{http.MethodPost, "/webhooks", "application/json", `{"url":"https://other.example/"}`, http.StatusInsufficientStorage},
		{http.MethodPost, webhook + "/rotate", "", "", http.StatusInsufficientStorage},
		{http.MethodPost, webhook + "/enable", "", "", http.StatusInsufficientStorage},
		{http.MethodPost, webhook + "/test", "", "", http.StatusInsufficientStorage},
		{http.MethodPost, delivery + "/redeliver", "", "", http.StatusInsufficientStorage},
		{http.MethodPost, webhook + "/redeliver", "", "", http.StatusInsufficientStorage},
		{http.MethodDelete, webhook, "", "", http.StatusInsufficientStorage},
		{http.MethodGet, webhook, "", "", http.StatusOK},
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
