package proxy

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestTrust(t *testing.T) {
	for _, c := range []struct {
		from, chain, proto, host string
		want                     string // client, host and whether by TLS
		untold                   int
	}{
		{"10.1.2.3:5", "203.0.113.9", "https", "lips.example", "203.0.113.9:0 lips.example tls", 0},
		{"10.1.2.3:5", "1.1.1.1, 203.0.113.9, 10.9.9.9", "https", "", "203.0.113.9:0 inner tls", 0},
		{"10.1.2.3:5", "1.1.1.1, nonsense, 10.9.9.9", "http", "", "10.9.9.9:0 inner", 0},
		{"[::ffff:10.1.2.3]:5", "2001:db8::1", "https", "a.example, b.example", "[2001:db8::1]:0 inner tls", 0},
		{"10.1.2.3:5", "", "", "", "10.1.2.3:5 inner", 0},
		{"198.51.100.7:5", "203.0.113.9", "https", "lips.example", "203.0.113.9:0 lips.example tls", 0},
		{"127.0.0.1:5", "203.0.113.9", "https", "lips.example", "203.0.113.9:0 lips.example tls", 0},
		{"192.0.2.1:5", "203.0.113.9", "https", "lips.example", "192.0.2.1:5 inner", 1},
		{"192.0.2.1:5", "203.0.113.9", "", "lips.example", "192.0.2.1:5 inner", 0},
	} {
		got, untold := "", 0
		h := Trust([]string{"10.0.0.0/8", "127.0.0.1", "::ffff:198.51.100.0/120"}, func() { untold++ }, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if got = r.RemoteAddr + " " + r.Host; r.TLS != nil {
				got += " tls"
			}
		}))
		for range 2 {
			r := httptest.NewRequest(http.MethodGet, "http://inner/", nil)
			r.RemoteAddr, r.TLS = c.from, nil
			for name, value := range map[string]string{"X-Forwarded-For": c.chain, "X-Forwarded-Proto": c.proto, "X-Forwarded-Host": c.host} {
				if value != "" {
					r.Header.Set(name, value)
				}
			}
			h.ServeHTTP(httptest.NewRecorder(), r)
		}
		if got != c.want || untold != c.untold {
			t.Errorf("%+v: got %s, told %d times", c, got, untold)
		}
	}
}

// TestTrustOneHost sends X-Forwarded-Host twice, as a proxy does that adds to its client's own. Neither counts.
func TestTrustOneHost(t *testing.T) {
	h := Trust([]string{"10.0.0.0/8"}, nil, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Host != "inner" {
			t.Errorf("got host %s, want inner", r.Host)
		}
	}))
	r := httptest.NewRequest(http.MethodGet, "http://inner/", nil)
	r.RemoteAddr, r.Header["X-Forwarded-Host"] = "10.0.0.1:1", []string{"evil.example", "lips.example"}
	h.ServeHTTP(httptest.NewRecorder(), r)
}

// FuzzTrust checks that no header stops a call.
func FuzzTrust(f *testing.F) {
	f.Add("203.0.113.9, 10.0.0.1", "lips.example:8443")
	f.Add(",,[::1", "\x00")
	f.Fuzz(func(t *testing.T, chain, host string) {
		came := false
		h := Trust([]string{"10.0.0.0/8"}, nil, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { came = true }))
		r := httptest.NewRequest(http.MethodGet, "http://inner/", nil)
		r.RemoteAddr = "10.0.0.1:1"
		r.Header["X-Forwarded-For"], r.Header["X-Forwarded-Host"] = []string{chain}, []string{host}
		if h.ServeHTTP(httptest.NewRecorder(), r); !came {
			t.Error("the call did not go on")
		}
	})
}
