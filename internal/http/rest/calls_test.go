package rest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// TestCallsAreNoted makes calls that change something, that fail and that only read. The first two are noted, without what the client sent.
// Erasing all of the account leaves the call that did so.
func TestCallsAreNoted(t *testing.T) {
	f := newFixture(t)
	token := f.key(t)
	caller, err := f.service.Authenticate(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	make := func(method, path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, Base+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		return f.call(r, token)
	}
	made := make(http.MethodPost, GeneratePath, `{"inputs":[{"type":"video","url":"https://example.com/secret.mp4"},{"type":"audio","url":"https://example.com/a.wav"}]}`)
	missed := make(http.MethodGet, RequestsPath+"/secret-name", "")
	make(http.MethodGet, MePath, "")
	f.call(httptest.NewRequest(http.MethodGet, Base+MePath, nil), "wrong")
	all, err := f.service.Calls(t.Context(), caller)
	if err != nil || len(all) != 2 {
		t.Fatalf("got %+v, %v, want two calls", all, err)
	}
	for i := range all {
		if all[i].At.IsZero() || all[i].KeyID != caller.KeyID {
			t.Errorf("got %+v", all[i])
		}
		all[i].At, all[i].KeyID = f.service.Now(), ""
	}
	if want := (lipsync.Call{At: all[1].At, ID: made.Header().Get("X-Request-Id"), Method: "POST", Route: Base + GeneratePath, Status: 200, RequestID: all[1].RequestID}); all[1] != want || all[1].RequestID == "" {
		t.Errorf("got %+v, want %+v and the request", all[1], want)
	}
	if want := (lipsync.Call{At: all[0].At, ID: missed.Header().Get("X-Request-Id"), Method: "GET", Route: Base + RequestsPath + "/{id}", Status: 404, Code: failure.NotFound}); all[0] != want {
		t.Errorf("got %+v, want %+v", all[0], want)
	}
	make(http.MethodDelete, RecordsPath, "")
	if all, err = f.service.Calls(t.Context(), caller); err != nil || len(all) != 1 || all[0].Route != Base+RecordsPath {
		t.Errorf("after erasing: got %+v, %v", all, err)
	}
}
