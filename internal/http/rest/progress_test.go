package rest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/test/lipsynctest"
)

// start creates a request and claims it with the token "lease".
func (f *fixture) start(t *testing.T, token string, now time.Time) (id string) {
	t.Helper()
	w := f.post(token, "/api/v1/lipsync/generate",
		`{"inputs":[{"type":"video","url":"http://x.example"},{"type":"audio","url":"http://x.example"}]}`)
	var made generated
	if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil {
		t.Fatal(err)
	}
	if _, err := f.store.Leases.Claim(t.Context(), made.RequestID, "lease", now, time.Hour, lipsync.Choice{}); err != nil {
		t.Fatal(err)
	}
	return made.RequestID
}

// TestProgress checks that clients see the progress that a worker reports.
func TestProgress(t *testing.T) {
	f := newFixture(t)
	token, now := f.key(t), time.Unix(1_800_000_000, 0).UTC()
	f.service.Now = func() time.Time { return now }
	id := f.start(t, token, now)
	for _, test := range []struct {
		reported lipsync.Progress
		want     string
	}{
		{lipsync.Progress{}, `"percent":0`},
		{lipsync.Progress{Stage: order.Fetching}, `"percent":0,"stage":"fetching"`},
		{lipsync.Progress{Stage: order.Analyzing, Percent: 7, Ends: now.Add(90 * time.Second)}, `"percent":7,"stage":"analyzing","seconds_left":90`},
		{lipsync.Progress{Stage: order.Rendering, Percent: 98, Ends: now.Add(time.Millisecond)}, `"percent":98,"stage":"rendering","seconds_left":1`},
		{lipsync.Progress{Stage: order.Storing, Percent: 99, Ends: now.Add(-time.Second)}, `"percent":99,"stage":"storing"`},
	} {
		if err := f.store.Leases.Report(t.Context(), id, "lease", test.reported); err != nil {
			t.Fatal(err)
		}
		w := f.call(httptest.NewRequest(http.MethodGet, "/api/v1/lipsync/requests/"+id+"/progress", nil), token)
		validate(t, loadDocument(t), "Progress", w.Body.Bytes())
		want := `{"id":"` + id + `","status":"processing",` + test.want + "}"
		if got := strings.TrimSpace(w.Body.String()); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestReasonOfWait checks that progress and details of a request that waits for another try say why.
func TestReasonOfWait(t *testing.T) {
	f := newFixture(t)
	token, now := f.key(t), time.Unix(1_800_000_000, 0).UTC()
	f.service.Now = func() time.Time { return now }
	id := f.start(t, token, now)
	attempted, err := f.store.Requests.ByID(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	attempted.Attempts, attempted.Delays = 0, 1
	attempted.Failure.Details = failure.Details{Cause: "video from x.example: the server answered 503"}
	if err := lipsynctest.Postpone(t.Context(), f.store.Leases, attempted, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for path, schema := range map[string]string{ProgressPath: "Progress", DetailsPath: "Details"} {
		w := f.call(httptest.NewRequest(http.MethodGet, "/api"+RequestsPath+"/"+id+path, nil), token)
		validate(t, loadDocument(t), schema, w.Body.Bytes())
		if want := `"reason":"video from x.example: the server answered 503; tried once, retry at 2027-01-15T09:00:00Z"`; !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: got %s, want %s", path, w.Body, want)
		}
	}
}

// cancelFinished cancels a request that a worker has completed.
func (f *fixture) cancelFinished(t *testing.T, c *http.Client, base string) {
	t.Helper()
	token, now := f.key(t), time.Now()
	id := f.start(t, token, now)
	if err := lipsynctest.Finish(t.Context(), f.store.Leases, id, "lease", now, lipsync.Outcome{Output: "outputs/x.mp4"}); err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequest(http.MethodDelete, base+"/api/v1/lipsync/requests/"+id, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("x-api-key", token)
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var got struct{ Error string }
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || resp.StatusCode != 409 || got.Error != "lipsync request is already finished" {
		t.Errorf("got %d %q (%v), want 409", resp.StatusCode, got.Error, err)
	}
}
