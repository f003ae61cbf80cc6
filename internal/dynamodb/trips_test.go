package dynamodb_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"

	"lipsync/internal/disk"
	"lipsync/internal/lipsync"
	"lipsync/internal/lipsynctest"
	"lipsync/internal/rest"
)

// home is the service as functions and runner have it, and what it calls.
type home struct {
	*lipsync.Service
	wire  wire
	clock *lipsynctest.Clock
	api   http.Handler
	token string
}

// silent is a queue, and what starts jobs, at no cost of the table.
type silent struct{}

func (silent) Send(context.Context, string) error   { return nil }
func (silent) Submit(context.Context, string) error { return nil }

func newHome(t *testing.T) *home {
	t.Helper()
	h := &home{clock: lipsynctest.NewClock()}
	objects, err := disk.Open(t.TempDir(), h.clock.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	h.Service = &lipsync.Service{
		Store: openWire(t, &h.wire), Objects: objects, Queue: silent{}, Jobs: silent{},
		Now: h.clock.Now, NewID: uuid.NewString, Random: rand.Reader, GenerateRate: 60, ReadRate: 60,
		Engines: []string{"warp"},
	}
	h.api = rest.New(h.Service, rest.Options{Log: slog.New(slog.DiscardHandler)})
	if h.token, _, err = h.CreateKey(t.Context(), "a", "name", 0); err != nil {
		t.Fatal(err)
	}
	return h
}

// call makes one call of the API, and reads its answer into v unless that is nil.
func (h *home) call(t *testing.T, method, path string, header http.Header, body string, v any) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "/api/v1"+path, strings.NewReader(body))
	r.Header = http.Header{"X-Api-Key": {h.token}, "Content-Type": {"application/json"}}
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	h.api.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("%s %s: got %d %s", method, path, w.Code, w.Body)
	}
	if v != nil {
		if err := json.Unmarshal(w.Body.Bytes(), v); err != nil {
			t.Fatal(err)
		}
	}
}

func (h *home) get(t *testing.T, path string) { h.call(t, http.MethodGet, path, nil, "", nil) }

// generate returns the id of a new request of the video and of fields with a
// comma behind each.
func (h *home) generate(t *testing.T, video, fields string, header http.Header) string {
	t.Helper()
	body := fmt.Sprintf(`{%s"inputs":[{"type":"video","url":%q},{"type":"audio","url":"https://example.com/a.wav"}]}`, fields, video)
	var answer struct{ Request_ID string }
	h.call(t, http.MethodPost, "/lipsync/generate", header, body, &answer)
	return answer.Request_ID
}

// announce announces a video and returns its id and how to name it.
func (h *home) announce(t *testing.T) (id, url string) {
	t.Helper()
	var answer struct{ ID, URL string }
	h.call(t, http.MethodPost, "/uploads", nil, `{"type":"video","size":5}`, &answer)
	return answer.ID, answer.URL
}

// upload sends a video and returns how to name it.
func (h *home) upload(t *testing.T) string {
	t.Helper()
	id, url := h.announce(t)
	u, err := h.Store.GetUpload(t.Context(), id)
	if err == nil {
		err = h.Objects.Put(t.Context(), u.Object, strings.NewReader("video"), 5)
	}
	if err != nil {
		t.Fatal(err)
	}
	return url
}

func (h *home) generateWithMedia(t *testing.T) {
	t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for _, name := range []string{"video", "audio"} {
		part, err := w.CreateFormFile(name, name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(part, name)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	h.call(t, http.MethodPost, "/lipsync/generate-with-media",
		http.Header{"Content-Type": {w.FormDataContentType()}}, body.String(), nil)
}

// TestRoundTrips counts what each endpoint, and each step of a worker, calls.
// The key and the rate cost two calls, three more in the first of a minute.
func TestRoundTrips(t *testing.T) {
	const url, get, update, query, batch, transact = "https://example.com/v.mp4",
		"GetItem", "UpdateItem", "Query", "BatchGetItem", "TransactWriteItems"
	h := newHome(t)
	upload, idem := h.upload(t), http.Header{"Idempotency-Key": {"i"}}
	h.generate(t, url, "", nil)
	doomed := h.generate(t, url, "", nil)
	var id string
	var held lipsync.Request
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var report strings.Builder
	table := tabwriter.NewWriter(&report, 0, 0, 2, ' ', 0)
	for _, c := range []struct {
		name string
		do   func()
		want []string
	}{
		{"GET /users/me", func() { h.get(t, "/users/me") }, []string{get, update}},
		{"POST /lipsync/generate", func() { id = h.generate(t, url, "", nil) }, []string{get, update, query, batch, transact}},
		{"… with a reference id", func() { h.generate(t, url, `"reference_id":"r",`, nil) }, []string{get, update, query, batch, transact}},
		{"… with an idempotency key", func() { h.generate(t, url, "", idem) }, []string{get, update, query, batch, transact}},
		{"… the same again", func() { h.generate(t, url, "", idem) }, []string{get, update, query, batch, get}},
		{"… of an upload", func() { h.generate(t, upload, "", nil) }, []string{get, update, get, query, batch, transact}},
		{"POST /lipsync/generate-with-media", func() { h.generateWithMedia(t) }, []string{get, update, query, batch, transact}},
		{"GET /lipsync/requests/ID", func() { h.get(t, "/lipsync/requests/"+id) }, []string{get, update, get}},
		{"GET /lipsync/requests/REFERENCE", func() { h.get(t, "/lipsync/requests/r") }, []string{get, update, query}},
		{"GET /lipsync/requests/ID/progress", func() { h.get(t, "/lipsync/requests/"+id+"/progress") }, []string{get, update, get}},
		{"GET /lipsync/requests/REFERENCE/progress", func() { h.get(t, "/lipsync/requests/r/progress") }, []string{get, update, query}},
		{"DELETE /lipsync/requests/ID", func() { h.call(t, http.MethodDelete, "/lipsync/requests/"+doomed, nil, "", nil) },
			[]string{get, update, get, get, transact}},
		{"… the same again", func() { h.call(t, http.MethodDelete, "/lipsync/requests/"+doomed, nil, "", nil) },
			[]string{get, update, get, get, get}},
		{"GET /lipsync/requests/ID/details", func() { h.get(t, "/lipsync/requests/"+id+"/details") }, []string{get, update, get}},
		{"GET /lipsync/requests/REFERENCE/details", func() { h.get(t, "/lipsync/requests/r/details") }, []string{get, update, query, get}},
		{"DELETE /lipsync/requests/ID/media", func() { h.call(t, http.MethodDelete, "/lipsync/requests/"+doomed+"/media", nil, "", nil) },
			[]string{get, update, get, get, transact}},
		{"… the same again", func() { h.call(t, http.MethodDelete, "/lipsync/requests/"+doomed+"/media", nil, "", nil) },
			[]string{get, update, get, get}},
		{"GET /lipsync/requests", func() { h.get(t, "/lipsync/requests") }, []string{get, update, get, query}},
		{"… ?offset=5", func() { h.get(t, "/lipsync/requests?offset=5&limit=1") }, []string{get, update, get, query}},
		{"… beyond the last", func() { h.get(t, "/lipsync/requests?offset=1000") }, []string{get, update, get}},
		{"POST /uploads", func() { h.announce(t) }, []string{get, update, query, transact}},
		{"first call in a minute", func() { h.clock.Advance(time.Minute); h.get(t, "/users/me") },
			[]string{get, get, update, update, update}},
		{"dispatch", func() { ok(h.Dispatch(t.Context(), id)) }, []string{get}},
		{"claim by id", func() { _, err := h.Claim(t.Context(), id); ok(err) }, []string{get, transact, update}},
		{"claim the oldest", func() { var err error; held, err = h.Claim(t.Context(), ""); ok(err) }, []string{query, query, transact, update}},
		{"renew", func() { ok(h.Renew(t.Context(), held)) }, []string{update}},
		{"report", func() { ok(h.Report(t.Context(), held, lipsync.Progress{Percent: 50})) }, []string{update}},
		{"look", func() { ok(h.Held(t.Context(), held)) }, []string{get}},
		{"complete", func() { ok(h.Complete(t.Context(), held, strings.NewReader("o"), 1)) }, []string{get, transact}},
		{"release", func() { r, _ := h.Claim(t.Context(), ""); h.wire.take(); ok(h.Release(t.Context(), r)) }, []string{get, transact}},
		{"job-state", func() { ok(h.JobFailed(t.Context(), id, h.clock.Now())) }, []string{get}},
		{"sweep", func() { ok(h.Sweep(t.Context())) }, []string{query, query, query, query, query}},
	} {
		h.wire.take()
		c.do()
		got := h.wire.take()
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
		fmt.Fprintf(table, "%s\t%d\t%s\n", c.name, len(got), strings.Join(got, ", "))
	}
	table.Flush()
	t.Logf("round trips:\n%s", report.String())
}
