package dynamodb_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"text/tabwriter"
	"time"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
	"lipsync/internal/http/rest"
	"lipsync/internal/store/disk"
	"lipsync/internal/test/lipsynctest"
)

// fixture is the service as the functions and the runner use it, with the services that it calls.
type fixture struct {
	*service.Service
	wire  wire
	clock *lipsynctest.Clock
	api   http.Handler
	token string
}

// silent is a queue and a pool that make no calls.
type silent struct{}

func (silent) Send(context.Context, lipsync.Request) error { return nil }
func (silent) Count(context.Context) (int, int, error)     { return 0, 0, nil }
func (silent) Start(context.Context, int) error            { return nil }

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{clock: lipsynctest.NewClock(), wire: wire{takes: call}}
	objects, err := disk.Open(t.TempDir(), f.clock.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	store := openWire(t, &f.wire)
	f.Service = lipsynctest.NewService(t, base.Config{Pooled: true, Workers: 10, GenerateRate: 60, ReadRate: 60, Engines: []string{"warp"}}, base.Ports{
		Store:   store.Store,
		Demand:  store.Queue,
		Objects: objects,
		Hints:   silent{},
		Pool:    silent{},
		Now:     f.clock.Now,
	})
	f.api = rest.New(f.Service, rest.Options{Log: slog.New(slog.DiscardHandler), MaxForm: 4_400_000})
	if f.token, _, err = f.CreateKey(t.Context(), "a", "name", 0); err != nil {
		t.Fatal(err)
	}
	return f
}

// call makes one call of the API. It decodes the answer into v unless v is nil.
func (f *fixture) call(t *testing.T, method, path string, header http.Header, body string, v any) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "/api/v1"+path, strings.NewReader(body))
	r.Header = http.Header{"X-Api-Key": {f.token}, "Content-Type": {"application/json"}}
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	f.api.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("%s %s: got %d %s", method, path, w.Code, w.Body)
	}
	if v != nil {
		if err := json.Unmarshal(w.Body.Bytes(), v); err != nil {
			t.Fatal(err)
		}
	}
}

func (f *fixture) get(t *testing.T, path string) { f.call(t, http.MethodGet, path, nil, "", nil) }

// generate creates a request with the video and the fields, which each end with a comma. It
// returns the id.
func (f *fixture) generate(t *testing.T, video, fields string, header http.Header) string {
	t.Helper()
	body := fmt.Sprintf(`{%s"inputs":[{"type":"video","url":%q},{"type":"audio","url":"https://example.com/a.wav"}]}`, fields, video)
	var answer struct {
		ID string `json:"request_id"`
	}
	f.call(t, http.MethodPost, "/lipsync/generate", header, body, &answer)
	return answer.ID
}

// announce announces a video, and returns its id and the URL that names it.
func (f *fixture) announce(t *testing.T) (id, url string) {
	t.Helper()
	var answer struct{ ID, URL string }
	f.call(t, http.MethodPost, "/uploads", nil, `{"type":"video","size":5}`, &answer)
	return answer.ID, answer.URL
}

// upload sends a video, and returns the URL that names it.
func (f *fixture) upload(t *testing.T) string {
	t.Helper()
	id, url := f.announce(t)
	u, err := f.Store.Uploads.ByID(t.Context(), id)
	if err == nil {
		err = f.Objects.Put(t.Context(), u.Object, strings.NewReader("video"), 5)
	}
	if err != nil {
		t.Fatal(err)
	}
	return url
}

func (f *fixture) generateWithMedia(t *testing.T) {
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
	f.call(t, http.MethodPost, "/lipsync/generate-with-media",
		http.Header{"Content-Type": {w.FormDataContentType()}}, body.String(), nil)
}

// TestRoundTrips counts the calls of the table for each endpoint and each step of a worker, the round
// trips (calls that wait for each other), and the items that are written. The API key and the rates
// cost three calls, and four more in the first call of a minute. A call that changes something is noted by one update.
func TestRoundTrips(t *testing.T) { synctest.Test(t, testRoundTrips) }

func testRoundTrips(t *testing.T) {
	const url, get, update, query, batch, transact = "https://example.com/v.mp4",
		"GetItem", "UpdateItem", "Query", "BatchGetItem", "TransactWriteItems"
	times := func(n int, operation string) string { return fmt.Sprint(n, " ", operation) }
	usage, survey := times(4, query), times(16, query)
	f := newFixture(t)
	upload, idem := f.upload(t), http.Header{"Idempotency-Key": {"i"}}
	f.generate(t, url, "", nil)
	doomed := f.generate(t, url, "", nil)
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
		name           string
		do             func()
		trips, written int
		want           []string
	}{
		{"GET /users/me", func() { f.get(t, "/users/me") }, 3, 2, []string{get, times(2, update)}},
		{"POST /lipsync/generate", func() { id = f.generate(t, url, "", nil) }, 8, 10, []string{get, times(2, update), usage, batch, transact, times(2, update)}},
		{"… with a reference id", func() { f.generate(t, url, `"reference_id":"r",`, nil) }, 8, 11, []string{get, times(2, update), usage, batch, transact, times(3, update)}},
		{"… with an idempotency key", func() { f.generate(t, url, "", idem) }, 8, 11, []string{get, times(2, update), usage, batch, transact, times(2, update)}},
		{"… the same again", func() { f.generate(t, url, "", idem) }, 8, 3, []string{get, times(2, update), usage, batch, query, batch, update}},
		{"… of an upload", func() { f.generate(t, upload, "", nil) }, 9, 11, []string{get, times(2, update), get, usage, batch, transact, times(2, update)}},
		{"POST /lipsync/generate-with-media", func() { f.generateWithMedia(t) }, 8, 10, []string{get, times(2, update), usage, batch, transact, times(2, update)}},
		{"GET /lipsync/requests/ID", func() { f.get(t, "/lipsync/requests/"+id) }, 4, 2, []string{get, times(2, update), query}},
		{"GET /lipsync/requests/REFERENCE", func() { f.get(t, "/lipsync/requests/r") }, 5, 2, []string{get, times(2, update), batch, query}},
		{"GET /lipsync/requests/ID/progress", func() { f.get(t, "/lipsync/requests/"+id+"/progress") }, 6, 2, []string{get, times(2, update), times(18, query)}},
		{"GET /lipsync/requests/REFERENCE/progress", func() { f.get(t, "/lipsync/requests/r/progress") }, 7, 2, []string{get, times(2, update), batch, times(18, query)}},
		{"DELETE /lipsync/requests/ID", func() { f.call(t, http.MethodDelete, "/lipsync/requests/"+doomed, nil, "", nil) }, 7, 6,
			[]string{get, times(2, update), times(2, query), transact, update}},
		{"… the same again", func() { f.call(t, http.MethodDelete, "/lipsync/requests/"+doomed, nil, "", nil) }, 7, 3,
			[]string{get, times(2, update), times(3, query), update}},
		{"GET /lipsync/requests/ID/details", func() { f.get(t, "/lipsync/requests/"+id+"/details") }, 4, 2, []string{get, times(2, update), query}},
		{"GET /lipsync/requests/REFERENCE/details", func() { f.get(t, "/lipsync/requests/r/details") }, 5, 2, []string{get, times(2, update), batch, query}},
		{"DELETE /lipsync/requests/ID/media", func() { f.call(t, http.MethodDelete, "/lipsync/requests/"+doomed+"/media", nil, "", nil) }, 7, 5,
			[]string{get, times(2, update), times(2, query), transact, update}},
		{"… the same again", func() { f.call(t, http.MethodDelete, "/lipsync/requests/"+doomed+"/media", nil, "", nil) }, 6, 3,
			[]string{get, times(2, update), times(2, query), update}},
		{"GET /lipsync/requests", func() { f.get(t, "/lipsync/requests") }, 5, 2, []string{get, times(2, update), times(2, batch)}},
		{"… ?offset=5", func() { f.get(t, "/lipsync/requests?offset=5&limit=1") }, 5, 2, []string{get, times(2, update), times(2, batch)}},
		{"… beyond the last", func() { f.get(t, "/lipsync/requests?offset=1000") }, 4, 2, []string{get, times(2, update), batch}},
		{"POST /uploads", func() { f.announce(t) }, 6, 5, []string{get, times(2, update), usage, transact, update}},
		{"first call in a minute", func() { f.clock.Advance(time.Minute); f.get(t, "/users/me") }, 7, 5,
			[]string{times(2, get), times(5, update)}},
		{"dispatch", func() { ok(f.Scale(t.Context())) }, 3, 1, []string{get, update, times(32, query)}},
		{"claim by id", func() { _, err := f.Claim(t.Context(), id); ok(err) }, 4, 4, []string{query, batch, transact, update}},
		{"claim the oldest", func() { var err error; held, err = f.Claim(t.Context(), ""); ok(err) }, 5, 4, []string{times(17, query), batch, transact, update}},
		{"renew", func() { ok(f.Renew(t.Context(), held)) }, 1, 1, []string{update}},
		{"report", func() { ok(f.Report(t.Context(), held, lipsync.Progress{Percent: 50})) }, 1, 1, []string{update}},
		{"note of its video", func() { ok(f.Store.Leases.NoteVideo(t.Context(), held.ID, held.Lease, [32]byte{1})) }, 1, 1, []string{update}},
		{"held", func() { ok(f.Held(t.Context(), held)) }, 1, 0, []string{query}},
		{"complete", func() { ok(f.Complete(t.Context(), held, strings.NewReader("o"), 1)) }, 2, 4, []string{query, transact}},
		{"release", func() { r, _ := f.Claim(t.Context(), ""); f.wire.take(); ok(f.Release(t.Context(), r)) }, 7, 3, []string{query, transact}},
		{"worked", func() {
			_, err := f.Worked(t.Context(), lipsync.Stint{Class: lipsync.Small, Took: time.Second})
			ok(err)
		}, 1, 1, []string{update}},
		{"sweep", func() { f.clock.Advance(5 * time.Second); ok(f.Sweep(t.Context())) }, 13, 1,
			[]string{survey, batch, times(2*8+16+1, query), get, update, times(1+32+8, query)}},
	} {
		f.wire.take()
		trips := roundTrips(c.do)
		written := f.wire.written
		got := inTurn(f.wire.take())
		if !slices.Equal(got, c.want) || trips != c.trips || written != c.written {
			t.Errorf("%s: got %v in %d round trips with %d items written, want %v, %d and %d", c.name, got, trips, written, c.want, c.trips, c.written)
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%s\n", c.name, trips, written, strings.Join(got, ", "))
	}
	table.Flush()
	t.Logf("round trips:\n%s", report.String())
}

// inTurn writes equal calls in a row as one call with their number.
func inTurn(calls []string) (all []string) {
	for len(calls) > 0 {
		n := 1
		for n < len(calls) && calls[n] == calls[0] {
			n++
		}
		name := calls[0]
		if n > 1 {
			name = fmt.Sprint(n, " ", name)
		}
		all, calls = append(all, name), calls[n:]
	}
	return all
}
