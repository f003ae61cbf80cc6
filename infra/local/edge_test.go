package main

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

// TestEdge calls a server through edge that decodes paths as the emulator does. The function must
// get the path unchanged, as on AWS.
func TestEdge(t *testing.T) {
	var got string
	emulator := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = r.URL.Path + "?" + r.URL.RawQuery
	}))
	defer emulator.Close()
	endpoint, err := url.Parse(emulator.URL)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(edge(endpoint, "abc", slog.New(slog.DiscardHandler)))
	defer server.Close()
	const root = "/restapis/abc/api/_user_request_"
	for path, want := range map[string]string{
		"/api/health":                 root + "/health?",
		"/api//health/":               root + "//health/?",
		"/api/v1/x/a%2Fb%20%25?q=%41": root + "/v1/x/a%2Fb%20%25?q=%41",
		"/api/v1/x/%2E%2E?limit=%zz":  root + "/v1/x/%2E%2E?limit=%zz",
		"/api/v1/x/%C3%A9?a;b":        root + "/v1/x/%C3%A9?a;b",
	} {
		response, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// TestEdgeAsAWS checks that edge makes the changes of API Gateway to calls and answers.
func TestEdgeAsAWS(t *testing.T) {
	emulator := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer emulator.Close()
	endpoint, err := url.Parse(emulator.URL)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(edge(endpoint, "abc", slog.New(slog.DiscardHandler)))
	defer server.Close()
	for size, want := range map[int]string{
		4_400_000: "", // the largest form that the API accepts
		5 << 20:   `{"message":"Request Too Long"}`,
		11 << 20:  `{"message":"HTTP content length exceeded 10485760 bytes."}`,
	} {
		response, err := http.Post(server.URL+"/api/x", "text/plain", bytes.NewReader(make([]byte, size)))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || string(body) != want || (response.StatusCode == http.StatusRequestEntityTooLarge) != (want != "") {
			t.Errorf("%d bytes: got %d %s (%v), want %q", size, response.StatusCode, body, err, want)
		}
		if h := response.Header; want == "" && (h.Get("WWW-Authenticate") != "" || h.Get("x-amzn-Remapped-WWW-Authenticate") != "Bearer") {
			t.Errorf("got the headers %v", h)
		}
	}
}
