package smoke

import (
	"bytes"
	"net/http"
	"testing"
	"time"
)

func large(t *testing.T, s *Stack) {
	c := s.client(t)
	for _, megabytes := range []int{5, 7, 11} {
		got := c.do(t, http.MethodPost, "/v1/lipsync/generate-with-media", "multipart/form-data; boundary=x", make([]byte, megabytes<<20))
		t.Logf("%d MB: %d %s", megabytes, got.status, got.body)
		if got.status != http.StatusRequestEntityTooLarge {
			t.Errorf("%d MB: got %d, want 413", megabytes, got.status)
		}
	}
	c.token = ""
	got := c.do(t, http.MethodGet, "/v1/users/me", "", nil)
	t.Logf("without a key: %d %v", got.status, got.header)
	if got.status != http.StatusUnauthorized || got.header.Get("WWW-Authenticate") == "" && got.header.Get("x-amzn-Remapped-WWW-Authenticate") == "" {
		t.Errorf("got %d %v, want 401, and how to say who calls", got.status, got.header)
	}
}

func whole(t *testing.T, s *Stack) {
	c := s.client(t)
	started := time.Now()
	c.wantOutput(t, c.start(t, s.Audio))
	t.Logf("completed after %s", time.Since(started).Round(time.Second))
}

// wantOutput waits until a request ends, and fetches its output.
func (c client) wantOutput(t *testing.T, id string) {
	t.Helper()
	done := c.await(t, "/v1/lipsync/requests/"+id, func(r request) bool { return r.Status == "completed" })
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, done.Output, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := send(t, r); got.status != http.StatusOK || len(got.body) < 1000 || !bytes.Equal(got.body[4:8], []byte("ftyp")) {
		t.Errorf("the output: got %d and %d bytes, want an MP4", got.status, len(got.body))
	}
}

// rendering waits until a runner is in the middle of a request.
func (c client) rendering(t *testing.T, id string) {
	t.Helper()
	c.await(t, "/v1/lipsync/requests/"+id+"/progress", func(r request) bool { return r.Status == "processing" && r.Percent > 0 })
}

func cancel(t *testing.T, s *Stack) {
	c := s.client(t)
	id := c.start(t, s.Long)
	c.rendering(t, id)
	var r request
	c.json(t, http.MethodDelete, "/v1/lipsync/requests/"+id, nil, &r)
	if r.Status != "failed" || r.Error != "canceled by the client" {
		t.Errorf("got %+v, want it canceled", r)
	}
	c.wantOutput(t, c.start(t, s.Audio)) // the runner goes on, or another does
}

func reclaim(t *testing.T, s *Stack) {
	c := s.client(t)
	id := c.start(t, s.Long)
	c.rendering(t, id)
	s.Reclaim(t, id)
	c.wantOutput(t, id)
}
