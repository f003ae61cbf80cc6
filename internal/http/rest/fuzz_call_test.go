package rest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// FuzzCall checks that any path, headers and body get an answer in JSON, and never a status of 500
// or more.
func FuzzCall(f *testing.F) {
	for _, seed := range [][5]string{
		{"/api/v1/lipsync/requests/1b4e28ba-2fa1-11d2-883f-0016d3cca427", "", "", "", ""},
		{"/api/v1/lipsync/requests/../x%2Fy/progress", "a.example", "", "", ""},
		{"/api/v1/lipsync/requests/%00/cancel", "a:0", "text/plain", "\x7f", "{}"},
		{"/api/v1/lipsync/generate", "[::1]", "application/json; charset=latin1", "once", `{"inputs":[{"type":"video","url":"http://a.example/v"},{"type":"audio","url":"http://a.example/a"}]}`},
		{"/api/v1/lipsync/estimates/1b4e28ba-2fa1-11d2-883f-0016d3cca427", "", "", "", ""},
		{"/api/v1/uploads", "evil\r\nX: y", `application/json; a="`, "", `{"type":"video","size":1}`},
		{"//api/v1/users/me", "", "multipart/form-data; boundary=", "", "--"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[4])
	}
	fx, token := newFuzzFixture(f)
	f.Fuzz(func(t *testing.T, path, host, contentType, once, body string) {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			r := httptest.NewRequest(method, "/", strings.NewReader(body))
			u, err := r.URL.Parse(path)
			if err != nil || u.Host != "" || !strings.HasPrefix(u.Path, "/") {
				t.Skip("no path that net/http hands on")
			}
			r.URL, r.Host, r.RequestURI = u, host, u.RequestURI()
			r.Header.Set("Content-Type", contentType)
			if once != "" {
				r.Header.Set("Idempotency-Key", once)
			}
			w := fx.call(r, token)
			log := fx.log.String()
			fx.log.Reset()
			if w.Code >= 500 || w.Code < 200 || w.Code >= 300 && w.Code < 400 {
				t.Errorf("%s %q: got %d %s, log %s", method, path, w.Code, w.Body, log)
			}
			if w.Body.Len() > 0 && strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") && !json.Valid(w.Body.Bytes()) {
				t.Errorf("%s %q: got %q, want JSON", method, path, w.Body)
			}
		}
	})
}
