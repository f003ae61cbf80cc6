package cors

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestAllow(t *testing.T) {
	const page = "https://a.example"
	for name, c := range map[string]struct {
		origins         []string
		method, origin  string
		asks            bool // true for a preflight request
		status          int
		allowed, varies string
	}{
		"any":              {[]string{"*"}, "GET", page, false, 200, "*", ""},
		"any, asks":        {[]string{"*"}, "OPTIONS", page, true, 204, "*", ""},
		"no page":          {[]string{"*"}, "GET", "", false, 200, "", ""},
		"one of two":       {[]string{"https://b.example", page}, "GET", page, false, 200, page, "Origin"},
		"one of two, asks": {[]string{"https://b.example", page}, "OPTIONS", page, true, 204, page, "Origin"},
		"another":          {[]string{"https://b.example"}, "GET", page, false, 200, "", "Origin"},
		"another asks":     {[]string{"https://b.example"}, "OPTIONS", page, true, 200, "", "Origin"},
		"asks nothing":     {[]string{"*"}, "OPTIONS", page, false, 200, "*", ""},
		"none":             {nil, "OPTIONS", page, true, 200, "", "Origin"},
	} {
		h := Allow(c.origins, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
		r := httptest.NewRequest(c.method, "/", nil)
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		if c.asks {
			r.Header.Set("Access-Control-Request-Method", "PUT")
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		got := w.Header()
		if w.Code != c.status || got.Get("Access-Control-Allow-Origin") != c.allowed || got.Get("Vary") != c.varies {
			t.Errorf("%s: got %d %v, want %d for %q", name, w.Code, got, c.status, c.allowed)
		}
		if got.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: pages may send cookies", name)
		}
	}
}
