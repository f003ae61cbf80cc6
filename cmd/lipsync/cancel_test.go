package main

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// howFar is the progress of a running job, as a client sees it.
type howFar struct {
	Status  string `json:"status"`
	Percent int    `json:"percent"`
	Stage   string `json:"stage"`
	Left    int    `json:"seconds_left"`
}

func (c testClient) progress(t *testing.T, id string) (p howFar) {
	t.Helper()
	if err := c.call(t.Context(), http.MethodGet, "/api/v1/lipsync/requests/"+id+"/progress", "", nil, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func (c testClient) cancel(t *testing.T, id string) (r request) {
	t.Helper()
	if err := c.call(t.Context(), http.MethodDelete, "/api/v1/lipsync/requests/"+id, "", nil, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestCancel cancels a request of some minutes of speech while it is rendered, and a request that
// waits behind it.
func TestCancel(t *testing.T) {
	speech := filepath.Join(t.TempDir(), "long.wav")
	if err := runFFmpeg("-f", "lavfi", "-i", "sine=frequency=200:duration=150", speech); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	s := startServer(t, data, "--workers", "1")
	c := testClient{s.url, newKey(t, data)}
	var ids []string
	for _, sound := range []string{speech, fixtures.speech, fixtures.speech} {
		id, err := c.generate(t.Context(), fixtures.video, sound)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	running, queued, next := ids[0], ids[1], ids[2]
	c.waitProgress(t, running, "it rendered with seconds left", func(p howFar) bool { return p.Stage == "rendering" && p.Left > 0 })
	if got := c.cancel(t, queued); got.Status != "failed" || got.ErrorMessage != "canceled by the client" {
		t.Errorf("got %+v of what waited, want it canceled", got)
	}
	canceled := time.Now()
	if got := c.cancel(t, running); got.Status != "failed" || got.ErrorMessage != "canceled by the client" {
		t.Errorf("got %+v of what ran, want it canceled", got)
	}
	// The API promises two seconds. A machine that is busy with tests gets five.
	s.waitLog(t, `msg="stopped`, 5*time.Second)
	t.Logf("stopped after %v", time.Since(canceled))
	if r := c.wait(t, next); r.Status != "completed" {
		t.Errorf("next: got %+v, want it completed", r)
	}
	s.waitLog(t, "msg=completed", 5*time.Second) // a request is completed after its files were removed
	s.wantNothingOf(t, running, queued)
}

// waitProgress waits until right reports true of a request's progress. The request must not end before.
func (c testClient) waitProgress(t *testing.T, id, want string, right func(howFar) bool) {
	t.Helper()
	var p howFar
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		before := p
		if p = c.progress(t, id); p.Percent < before.Percent || p.Status == "failed" || p.Status == "completed" {
			t.Fatalf("got %+v after %+v, want %s", p, before, want)
		}
		if right(p) {
			return
		}
	}
	t.Fatalf("got %+v after two minutes, want %s", p, want)
}

// wantNothingOf checks that the server has no file of the requests, no scratch file and no child
// process.
func (s *server) wantNothingOf(t *testing.T, ids ...string) {
	t.Helper()
	for _, id := range ids {
		for _, kind := range []string{"inputs", "outputs"} {
			err := filepath.WalkDir(filepath.Join(s.data, "objects", "files", kind, id), func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					t.Errorf("%s is left", path)
				}
				return nil // the folder itself may be missing
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
	if left, err := os.ReadDir(filepath.Join(s.data, "scratch")); err != nil || len(left) > 0 {
		t.Errorf("scratch holds %v (error %v), want nothing", left, err)
	}
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", s.process.Process.Pid))
	if err != nil || threads == nil {
		t.Errorf("got %d threads of the server (%v)", len(threads), err)
	}
	for _, thread := range threads {
		if children, err := os.ReadFile(thread); err == nil && len(children) > 0 {
			t.Errorf("the server has the children %s", children)
		}
	}
}
