package smoke

import (
	"bytes"
	"net/http"
	"slices"
	"testing"
	"time"
)

func bodies(t *testing.T, s *Stack) {
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
	c.wantOutput(t, c.start(t, "warp", c.Video, c.Audio))
}

// pools has each pool do its request. The large one is not done to its end.
func pools(t *testing.T, s *Stack) {
	c, began := s.client(t), time.Now()
	id := c.start(t, "warp", c.Video, c.Audio)
	c.wantOutput(t, id)
	t.Logf("the small request was completed after %s", since(began))
	s.wantLine(t, function, began, id, `"started"`)
	began = time.Now()
	id = c.startLarge(t)
	c.rendering(t, id)
	t.Logf("the large request was rendered after %s", since(began))
	c.cancel(t, id)
	s.wantLine(t, function, began, id, `"started"`) // which gave it back
	s.wantLine(t, machines, began, id, `"started"`)
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

// cancel cancels a request.
func (c client) cancel(t *testing.T, id string) {
	t.Helper()
	var r request
	c.json(t, http.MethodDelete, "/v1/lipsync/requests/"+id, nil, &r)
	if r.Status != "failed" || r.Error != "canceled by the client" {
		t.Errorf("got %+v, want it canceled", r)
	}
}

func cancel(t *testing.T, s *Stack) {
	c := s.client(t)
	id := c.start(t, "warp", c.Video, c.Long)
	c.rendering(t, id)
	c.cancel(t, id)
	c.wantOutput(t, c.start(t, "warp", c.Video, c.Audio)) // the worker goes on, or another does
}

func reclaim(t *testing.T, s *Stack) {
	c := s.client(t)
	id := c.startLarge(t)
	c.rendering(t, id)
	s.Reclaim(t, id)
	c.wantOutput(t, id)
}

// image deploys beside a request, with another machine image if there are any.
func image(t *testing.T, s *Stack) {
	c := s.client(t)
	id := c.startLarge(t)
	c.rendering(t, id)
	var other string
	var arguments []string
	if s.Images != nil {
		other, arguments = s.Images.Other(t)
	}
	began := time.Now()
	s.Deploy(t, arguments...)
	t.Logf("beside a job, the deployment took %s", since(began))
	c.wantOutput(t, id)
	if s.Images == nil {
		return
	}
	// An idle instance with the former image would take the next request.
	if !within(s.Patience, func() bool { return len(s.Images.Running(t)) == 0 }) {
		t.Fatal("the instances don't end")
	}
	id = c.startLarge(t)
	c.rendering(t, id)
	if running := s.Images.Running(t); !slices.Contains(running, other) {
		t.Errorf("instances with %q run, want one with %s", running, other)
	}
	c.cancel(t, id)
}

// since returns how long ago something began, in whole seconds.
func since(began time.Time) time.Duration { return time.Since(began).Round(time.Second) }
