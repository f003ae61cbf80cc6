package smoke

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"lipsync/internal/http/rest"
)

// client calls the API with its own key.
type client struct {
	*Stack
	token string
}

func (s *Stack) client(t *testing.T) client {
	t.Helper()
	token, _, err := s.service(t).CreateKey(t.Context(), rand.Text(), "smoke", 0)
	if err != nil {
		t.Fatal(err)
	}
	return client{s, token}
}

// host returns the scheme and host of the API.
func (s *Stack) host() string { return strings.TrimSuffix(s.Outputs["ApiUrl"], rest.Base) }

// reply is the answer to a call.
type reply struct {
	status int
	header http.Header
	body   []byte
}

func (c client) do(t *testing.T, method, path, contentType string, body []byte) reply {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, c.Outputs["ApiUrl"]+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	r.Header.Set("Content-Type", contentType)
	return send(t, r)
}

func send(t *testing.T, r *http.Request) reply {
	t.Helper()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{response.StatusCode, response.Header, body}
}

// json calls with a value as JSON, and decodes the answer into another.
func (c client) json(t *testing.T, method, path string, in, out any) http.Header {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	got := c.do(t, method, path, "application/json", body)
	if got.status != http.StatusOK {
		t.Fatalf("%s %s: got %d %s", method, path, got.status, got.body)
	}
	if err := json.Unmarshal(got.body, out); err != nil {
		t.Fatalf("%s %s: %v: %s", method, path, err, got.body)
	}
	return got.header
}

// upload sends a file to the address that the API announces, and returns the URL that names it as
// an input.
func (c client) upload(t *testing.T, kind string, content []byte) string {
	t.Helper()
	var made struct {
		UploadURL string            `json:"upload_url"`
		Headers   map[string]string `json:"headers"`
		URL       string            `json:"url"`
	}
	c.json(t, http.MethodPost, "/v1/uploads", map[string]any{"type": kind, "size": len(content)}, &made)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, made.UploadURL, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range made.Headers {
		r.Header.Set(name, value)
	}
	if got := send(t, r); got.status != http.StatusOK {
		t.Fatalf("upload %s: got %d %s", kind, got.status, got.body)
	}
	return made.URL
}

// start makes a request with an engine, a video and a speech, and returns its id.
func (c client) start(t *testing.T, engine string, video, audio []byte) string {
	t.Helper()
	var made struct {
		ID string `json:"request_id"`
	}
	c.json(t, http.MethodPost, "/v1/lipsync/generate", map[string]any{"model": engine, "inputs": []map[string]string{
		{"type": "video", "url": c.upload(t, "video", video)}, {"type": "audio", "url": c.upload(t, "audio", audio)},
	}}, &made)
	return made.ID
}

// startLarge makes a request that no small worker does.
func (c client) startLarge(t *testing.T) string {
	t.Helper()
	return c.start(t, "warp", c.Large, c.Long)
}

// request is a lip sync request, with the members that the steps read.
type request struct {
	Status  string `json:"status"`
	Error   string `json:"error_message"`
	Output  string `json:"output_url"`
	Percent int    `json:"percent"` // of its progress
}

// await reads the request at a path until done, as often as Retry-After asks.
func (c client) await(t *testing.T, path string, done func(request) bool) request {
	t.Helper()
	for deadline := time.Now().Add(c.Patience); ; {
		var r request
		header := c.json(t, http.MethodGet, path, nil, &r)
		if done(r) {
			return r
		}
		if r.Status == "failed" || r.Status == "completed" || time.Now().After(deadline) {
			t.Fatalf("%s is %+v", path, r)
		}
		seconds, err := strconv.Atoi(header.Get("Retry-After"))
		if err != nil || header.Get("ETag") == "" {
			t.Fatalf("%s is open, but comes with the headers %v", path, header)
		}
		time.Sleep(time.Duration(seconds) * time.Second)
	}
}
