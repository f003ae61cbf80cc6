package resttest

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// polling reads a request again and again, as a client does that waits for its end.
func (s *suite) polling(t *testing.T) {
	token := s.key(t)
	id := s.start(t, token)
	var made analysis
	s.do(t, analyzeCall(`{"url":"`+videoURL+`"}`).with(token)).into(t, &made)
	var estimated estimate
	s.do(t, estimateCall(good()).with(token)).into(t, &estimated)
	for _, path := range []string{requestPath(id), requestPath(id) + "/progress", "/v1/lipsync/analyses/" + made.ID, "/v1/lipsync/estimates/" + estimated.ID} {
		var first reply
		for range 10 { // the request may change between the two calls
			first = s.get(t, token, path)
			if done := strings.Contains(string(first.body), `"completed"`) || strings.Contains(string(first.body), `"failed"`); done {
				if wait := first.header.Get("Retry-After"); wait != "" {
					t.Errorf("%s is final, but comes with Retry-After %q", path, wait)
				}
				return // a worker was faster
			}
			again := s.do(t, call{method: http.MethodGet, path: path, token: token, header: http.Header{"If-None-Match": {first.header.Get("ETag")}}})
			if again.status == http.StatusNotModified {
				if len(again.body) > 0 || again.header.Get("ETag") != first.header.Get("ETag") || !isPause(again.header.Get("Retry-After")) {
					t.Errorf("%s: got %q and %v, want only headers", path, again.body, again.header)
				}
				break
			}
		}
		if !isPause(first.header.Get("Retry-After")) || first.header.Get("ETag") == "" {
			t.Errorf("%s: got the headers %v, want ETag, and Retry-After from 1 to 30", path, first.header)
		}
	}
}

func isPause(seconds string) bool {
	n, err := strconv.Atoi(seconds)
	return err == nil && 1 <= n && n <= 30
}

// browsers makes the calls of a page of another site, first the preflight requests by which a
// browser asks whether the page may call.
func (s *suite) browsers(t *testing.T) {
	token := s.key(t)
	const origin = "https://example.com"
	for _, c := range []struct{ method, path string }{
		{http.MethodPost, "/v1/lipsync/generate"}, {http.MethodGet, "/v1/users/me"}, {http.MethodDelete, requestPath("x")}, {http.MethodGet, "/health"},
	} {
		ask := s.do(t, call{method: http.MethodOptions, path: c.path, header: http.Header{
			"Origin": {origin}, "Access-Control-Request-Method": {c.method}, "Access-Control-Request-Headers": {"authorization,content-type"},
		}})
		methods, headers := ask.header.Get("Access-Control-Allow-Methods"), strings.ToLower(ask.header.Get("Access-Control-Allow-Headers"))
		if ask.status != http.StatusNoContent || !allows(ask, origin) || !strings.Contains(methods, c.method) ||
			!strings.Contains(headers, "authorization") || !strings.Contains(headers, "content-type") {
			t.Errorf("%s %s: got %d %v", c.method, c.path, ask.status, ask.header)
		}
	}
	for _, token := range []string{token, ""} { // the page must be able to read a refusal too
		got := s.do(t, call{method: http.MethodGet, path: "/v1/users/me", token: token, header: http.Header{"Origin": {origin}}})
		if !allows(got, origin) || !strings.Contains(got.header.Get("Access-Control-Expose-Headers"), "Retry-After") {
			t.Errorf("got %d %v", got.status, got.header)
		}
	}
}

func allows(r reply, origin string) bool {
	allowed := r.header.Get("Access-Control-Allow-Origin")
	return (allowed == "*" || allowed == origin) && r.header.Get("Access-Control-Allow-Credentials") == ""
}
