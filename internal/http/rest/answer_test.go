package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

func TestFail(t *testing.T) {
	cause := errors.New("secret /data/db: disk full")
	for _, test := range []struct {
		err     error
		status  int
		message string
	}{
		{&failure.Error{Code: failure.Invalid, Message: "m", Err: cause}, 400, "m"},
		{&failure.Error{Code: failure.Unauthorized, Message: "m"}, 401, "m"},
		{&failure.Error{Code: failure.ReadOnlyKey, Message: "m"}, 403, "m"},
		{&failure.Error{Code: failure.NotFound, Message: "m"}, 404, "m"},
		{&failure.Error{Code: failure.Finished, Message: "m"}, 409, "m"},
		{&failure.Error{Code: failure.TokenLimit, Message: "m"}, 412, "m"},
		{&failure.Error{Code: failure.TooLarge, Message: "m"}, 413, "m"},
		{&failure.Error{Code: failure.Reused, Message: "m"}, 422, "m"},
		{&failure.Error{Code: failure.RateLimited, Message: "m"}, 429, "m"},
		{&failure.Error{Code: failure.OpenLimit, Message: "m"}, 429, "m"},
		{&failure.Error{Code: failure.BatchLimit, Message: "m"}, 429, "m"},
		{&failure.Error{Code: failure.StorageLimit, Message: "m"}, 507, "m"},
		{&failure.Error{Code: failure.Conflict, Message: "lease lost"}, 500, "internal error"},
		{&failure.Error{Code: failure.Internal, Message: "m", Err: cause}, 500, "internal error"},
		{cause, 500, "internal error"},
		{fmt.Errorf("wrapped: %w", &failure.Error{Code: failure.NotFound, Message: "m"}), 404, "m"},
	} {
		w := httptest.NewRecorder()
		(&answer{ResponseWriter: w}).fail(test.err)
		if got := errorOf(t, w); w.Code != test.status || got != test.message {
			t.Errorf("%v: got %d %q, want %d %q", test.err, w.Code, got, test.status, test.message)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for wait, want := range map[time.Duration]string{
		0: "1", time.Nanosecond: "1", time.Second: "1", time.Second + 1: "2", 59500 * time.Millisecond: "60",
	} {
		w := httptest.NewRecorder()
		(&answer{ResponseWriter: w}).fail(&failure.Error{Code: failure.RateLimited, RetryAfter: wait})
		if got := w.Header().Get("Retry-After"); got != want {
			t.Errorf("%v: got Retry-After %q, want %q", wait, got, want)
		}
	}
	for code, want := range map[failure.Code]string{failure.NoSpace: "60", failure.StorageLimit: "", failure.Internal: ""} {
		err := error(&failure.Error{Code: code})
		if code == failure.NoSpace {
			err = failure.ErrNoSpace(nil)
		}
		w := httptest.NewRecorder()
		(&answer{ResponseWriter: w}).fail(err)
		if got := w.Header().Get("Retry-After"); got != want {
			t.Errorf("%s: got Retry-After %q, want %q", code, got, want)
		}
	}
}

// TestAccountLimitIsNoError checks that an account at its storage limit is not logged as an error.
func TestAccountLimitIsNoError(t *testing.T) {
	f := newFixture(t)
	f.service.Limits.Stored = 1
	w := f.post(f.key(t), "/api/v1/uploads", `{"type":"audio","size":1000}`)
	if log := f.log.String(); w.Code != 507 || !strings.Contains(log, `"status":507`) || strings.Contains(log, `"level":"ERROR"`) {
		t.Errorf("got %d and the log %s, want 507, which is no error", w.Code, log)
	}
}

func TestPanic(t *testing.T) {
	f := newFixture(t)
	f.service.Store = lipsync.Store{}
	w := f.call(httptest.NewRequest(http.MethodGet, "/api/v1/users/me", nil), "any")
	if got := errorOf(t, w); w.Code != 500 || got != "internal error" {
		t.Errorf("got %d %q, want 500 internal error", w.Code, got)
	}
	if log := f.log.String(); !strings.Contains(log, `"level":"ERROR"`) || !strings.Contains(log, "panic") {
		t.Errorf("got log %s, want an error that names the panic", log)
	}
}

// TestLog checks that each call has one line in the log, without secrets and without texts of the
// client.
func TestLog(t *testing.T) {
	f := newFixture(t)
	token := f.key(t)
	for _, c := range []struct {
		method, path, route string
		status              int
	}{
		{"GET", "/api/v1/lipsync/requests?reference_id=private", "/api/v1/lipsync/requests", 200},
		{"GET", "/api/v1/lipsync/requests/private", "/api/v1/lipsync/requests/{id}", 404},
		{"PUT", "/api/v1/lipsync/requests/private", "/api/v1/lipsync/requests/{id}", 405},
		{"GET", "/api/v1/lipsync/requests/private/x", "", 404},
		{"GET", "/api/../private", "", 404},
	} {
		f.log.Reset()
		w := f.call(httptest.NewRequest(c.method, c.path, nil), token)
		var line struct {
			ID, Method, Route, Client string
			Status, Bytes             int
			Took                      *float64 `json:"took_ms"`
		}
		if err := json.Unmarshal(f.log.Bytes(), &line); err != nil {
			t.Fatalf("log %s: %v", f.log, err)
		}
		if line.Method != c.method || line.Route != c.route || line.Status != c.status || line.Took == nil || line.Client != "192.0.2.1" {
			t.Errorf("%s %s: got %s, want route %q and status %d", c.method, c.path, f.log, c.route, c.status)
		}
		if line.ID != w.Header().Get("X-Request-Id") || line.Bytes != w.Body.Len() {
			t.Errorf("got %s, want id %s and %d bytes", f.log, w.Header().Get("X-Request-Id"), w.Body.Len())
		}
		for _, secret := range []string{token, "private"} {
			if strings.Contains(f.log.String(), secret) {
				t.Errorf("log %s has %q in it", f.log, secret)
			}
		}
	}
}

// TestLogTellsTime checks the logged duration of a call that takes a quarter of a second.
func TestLogTellsTime(t *testing.T) {
	f := newFixture(t)
	now := time.Unix(0, 0)
	f.service.Now = func() time.Time { now = now.Add(250 * time.Millisecond); return now }
	f.call(httptest.NewRequest(http.MethodGet, "/api/health", nil), "")
	if want := `"took_ms":250,`; !strings.Contains(f.log.String(), want) {
		t.Errorf("got log %s, want %s", f.log, want)
	}
}

// TestLogNamesRequest checks that the log has the id of the lip sync request that a call is about.
func TestLogNamesRequest(t *testing.T) {
	f := newFixture(t)
	token := f.key(t)
	const body = `{"inputs":[{"type":"video","url":"http://a/v"},{"type":"audio","url":"http://a/a"}],"reference_id":"r"}`
	post := httptest.NewRequest(http.MethodPost, "/api/v1/lipsync/generate", strings.NewReader(body))
	post.Header.Set("Content-Type", "application/json")
	var made generated
	answer := f.call(post, token)
	if err := json.Unmarshal(answer.Body.Bytes(), &made); err != nil {
		t.Fatal(err)
	}
	if r, err := f.store.Requests.ByID(t.Context(), made.RequestID); err != nil || r.CallID != answer.Header().Get("X-Request-Id") || r.CallID == "" {
		t.Errorf("the record has the call %q (%v), want %q", r.CallID, err, answer.Header().Get("X-Request-Id"))
	}
	f.call(httptest.NewRequest(http.MethodGet, "/api/v1/lipsync/requests/r", nil), token)
	lines := strings.Split(strings.TrimSpace(f.log.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("got %d lines, want 2", len(lines))
	}
	for _, text := range lines {
		var line struct{ Account, Key, Request string }
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		if line.Request != made.RequestID || line.Request == "" || line.Account == "" || line.Key == "" {
			t.Errorf("got %s, want request %s, its account and its key", text, made.RequestID)
		}
	}
}

// TestLogNamesTrace checks that the log has the id of a trace of X-Ray, and no other text of that header.
func TestLogNamesTrace(t *testing.T) {
	f := newFixture(t)
	const trace = "1-5759e988-bd862e3fe1be46a994272793"
	for header, want := range map[string]string{
		"Root=" + trace: trace, "Root=" + trace + ";Parent=53995c3f42cd8ad8;Sampled=1": trace, "Self=secret;Root=" + trace: "", "Root=secret": "", "": "", "Root=" + trace + "secret": "",
	} {
		f.log.Reset()
		r := httptest.NewRequest(http.MethodPut, "/api/health", nil)
		r.Header.Set("X-Amzn-Trace-Id", header)
		f.call(r, "")
		var line struct{ Trace string }
		if err := json.Unmarshal(f.log.Bytes(), &line); err != nil || line.Trace != want || strings.Contains(f.log.String(), "secret") {
			t.Errorf("%q: got log %s (%v), want the trace %q", header, f.log, err, want)
		}
	}
}

// TestCauseIsLogged checks that the cause of an error is in the log and not in the answer.
func TestCauseIsLogged(t *testing.T) {
	f := newFixture(t)
	f.closeStore()
	w := f.call(httptest.NewRequest(http.MethodGet, "/api/v1/users/me", nil), "any")
	if got := errorOf(t, w); w.Code != 500 || got != "internal error" {
		t.Errorf("got %d %q, want 500 internal error", w.Code, got)
	}
	if !strings.Contains(f.log.String(), "database is closed") {
		t.Errorf("got log %s, want the cause in it", f.log)
	}
}

// TestLogNamesField checks that the client reads the contract's sentence and the log names the
// wrong field.
func TestLogNamesField(t *testing.T) {
	for body, want := range map[string]string{`{"inputs":5}`: "inputs", `{"inputs":`: "unexpected end", "null": "null", "\"\xff\"": "not UTF-8"} {
		f := newFixture(t)
		r := httptest.NewRequest(http.MethodPost, "/api/v1/lipsync/generate", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := f.call(r, f.key(t))
		if place := w.Header().Get("Lipsync-Error-Detail"); w.Header().Get("Lipsync-Error-Code") != "invalid" || !strings.Contains(place, " at line 1, column ") {
			t.Errorf("%s: got the code %q and the detail %q, want invalid and a place", body, w.Header().Get("Lipsync-Error-Code"), place)
		}
		if got := errorOf(t, w); got != "invalid request body" || !strings.Contains(f.log.String(), "invalid request body: ") || !strings.Contains(f.log.String(), want) {
			t.Errorf("%s: got %q and the log %s, want %q in it", body, got, f.log, want)
		}
	}
}

// TestErrorPlaces checks the places in JSON that can't be read.
func TestErrorPlaces(t *testing.T) {
	for body, want := range map[string]string{
		"{\n  \"url\": \"http://a\",\n}": "invalid character '}' looking for beginning of object key string at line 3, column 1",
		`{"url":5}`:                      "url can't be a JSON number at line 1, column 8",
		`{"url":"`:                       "unexpected end of JSON input at line 1, column 8",
		"\"\xff\"":                       "not UTF-8 at line 1, column 3",
		"5":                              "the body can't be a JSON number at line 1, column 1",
		"[\"\u00e9\r\n\"]":               `invalid character '\\r' in string literal at line 1, column 5`,
	} {
		_, err := parseJSON[analyzeBody]([]byte(body))
		if d, ok := errors.AsType[detailed](err); !ok || d.detail != want {
			t.Errorf("%q: got %q (%v), want %q", body, d.detail, err, want)
		}
	}
}
