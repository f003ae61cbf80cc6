package rest

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/test/lipsynctest"
)

func TestPollAfter(t *testing.T) {
	for age, want := range map[time.Duration]int{
		-time.Hour: 1, 0: 1, 10 * time.Second: 1, 11 * time.Second: 2, time.Minute: 6, 5 * time.Minute: 30, 24 * time.Hour: 30,
	} {
		if got := pollAfter(age); got != want {
			t.Errorf("%s: got %d, want %d", age, got, want)
		}
	}
}

// TestPoll reads a request until its end.
func TestPoll(t *testing.T) {
	f := newFixture(t)
	token, now := f.key(t), time.Unix(1_800_000_000, 0).UTC()
	f.service.Now = func() time.Time { return now }
	id := f.start(t, token, now)
	read := func(path, tag string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "/api/v1/lipsync/requests/"+id+path, nil)
		if tag != "" {
			r.Header.Set("If-None-Match", tag)
		}
		return f.call(r, token)
	}
	now = now.Add(100 * time.Second)
	first := read("", "")
	tag := first.Header().Get("ETag")
	if wait := first.Header().Get("Retry-After"); first.Code != http.StatusOK || tag == "" || wait != "10" {
		t.Errorf("got %d, tag %q, Retry-After %q, want 200, a tag and 10", first.Code, tag, wait)
	}
	for given, want := range map[string]int{
		tag: 304, "W/" + tag: 304, `"x", ` + tag: 304, "*": 304, `"x"`: 200, tag + "x": 200,
	} {
		w := read("", given)
		if w.Code != want || (want == 304) != (w.Body.Len() == 0) {
			t.Errorf("%s: got %d and %d bytes, want %d", given, w.Code, w.Body.Len(), want)
		}
	}
	before := read("/progress", "").Header().Get("ETag")
	if err := f.store.Leases.Report(t.Context(), id, "lease", lipsync.Progress{Stage: order.Rendering, Percent: 50}); err != nil {
		t.Fatal(err)
	}
	if w := read("/progress", before); w.Code != http.StatusOK {
		t.Errorf("progress that changed: got %d, want 200", w.Code)
	}
	err := lipsynctest.Finish(t.Context(), f.store.Leases, id, "lease", now, lipsync.Outcome{Failure: failure.Failure{Code: failure.NoFace}})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", "/progress"} {
		w := read(path, tag)
		if w.Code != http.StatusOK || w.Header().Get("Retry-After") != "" || w.Header().Get("ETag") == tag {
			t.Errorf("%s of what is final: got %d %v", path, w.Code, w.Header())
		}
	}
}
