package main

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// metricsURL returns the address of the metrics, from the server's log.
func (s *server) metricsURL(t *testing.T) string {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if lines := s.log.with("serving metrics"); len(lines) == 1 {
			return "http://" + regexp.MustCompile(`address=(\S+)`).FindStringSubmatch(lines[0])[1]
		}
	}
	t.Fatalf("no address of metrics: %q", s.log.with(""))
	return ""
}

func body(t *testing.T, address string) (status int, text string) {
	t.Helper()
	response, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(b)
}

// TestMetrics does one job that completes and one that fails, and finds both in the metrics.
func TestMetrics(t *testing.T) {
	data := t.TempDir()
	s := startServer(t, data, "--metrics-addr", "127.0.0.1:0", "--allow-private-networks")
	c := testClient{s.url, newKey(t, data)}
	id, err := c.generate(t.Context(), fixtures.video, fixtures.speech)
	if err != nil {
		t.Fatal(err)
	}
	if r := c.wait(t, id); r.Status != "completed" {
		t.Fatalf("got %+v, want it completed", r)
	}
	c.wait(t, c.start(t, s.url+"/missing.mp4", s.url+"/docs")) // which may be fetched at the same time
	_, text := body(t, s.metricsURL(t)+"/metrics")
	lines := strings.Split(text, "\n")
	for _, want := range []string{
		"lipsync_requests_created_total 2",
		`lipsync_requests_finished_total{code="",status="completed"} 1`,
		`lipsync_requests_finished_total{code="media_not_accessible",status="failed"} 1`,
		`lipsync_requests_open{status="queued"} 0`,
		"lipsync_queue_age_seconds 0",
		"lipsync_sweeps_total 1", // the first one is at the start
		"lipsync_rendered_media_seconds_total 0.6",
		`lipsync_fetch_duration_seconds_count{result="not_found"} 1`,
		`lipsync_store_operation_duration_seconds_count{operation="create"} 2`,
	} {
		if !slices.Contains(lines, want) {
			name, _, _ := strings.Cut(want, "{")
			t.Errorf("there is no %s, but %q", want, regexp.MustCompile(`(?m)^`+name+`[{ ].*`).FindAllString(text, -1))
		}
	}
	for _, private := range []string{"default", "missing.mp4", id} {
		if strings.Contains(text, private) {
			t.Errorf("%q is in the metrics", private)
		}
	}
	well := map[string]bool{"store": true, "disk": true, "ffmpeg": true}
	s.wantReady(t, http.StatusOK, well)
	if got, _ := body(t, s.url+"/metrics"); got != http.StatusNotFound {
		t.Errorf("metrics at the address of the API: got %d, want 404", got)
	}
	if err := s.stop(t); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// wantReady checks what /readyz answers. On a busy machine a check may take longer than an answer, so
// wantReady asks again for half a minute.
func (s *server) wantReady(t *testing.T, wantStatus int, want map[string]bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Second) {
		status, got := s.ready(t)
		if status == wantStatus && maps.Equal(got, want) {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("ready: got %d, %v, want %d, %v", status, got, wantStatus, want)
			return
		}
	}
}

// ready returns the status of /readyz, and which of its checks passed.
func (s *server) ready(t *testing.T) (status int, well map[string]bool) {
	t.Helper()
	var answer struct{ Checks map[string]struct{ OK bool } }
	status, text := body(t, s.metricsURL(t)+"/readyz")
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatalf("got %q: %v", text, err)
	}
	well = make(map[string]bool)
	for name, check := range answer.Checks {
		well[name] = check.OK
	}
	return status, well
}

// TestReadyz removes the folder for the files of running work.
func TestReadyz(t *testing.T) {
	data := t.TempDir()
	s := startServer(t, data, "--metrics-addr", "127.0.0.1:0")
	if err := os.RemoveAll(filepath.Join(data, "scratch")); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"store": true, "disk": false, "ffmpeg": false}
	s.wantReady(t, http.StatusServiceUnavailable, want)
	if status, text := body(t, s.url+"/api/health"); status != http.StatusOK || text != `{"status":"ok"}`+"\n" {
		t.Errorf("health: got %d, %q", status, text)
	}
}

// TestNoMetrics checks that a server serves no metrics without an address for them.
func TestNoMetrics(t *testing.T) {
	s := startServer(t, t.TempDir())
	s.link(t) // now the server has started completely
	if lines := s.log.with("metrics"); len(lines) > 0 {
		t.Errorf("got %q, want nothing of metrics", lines)
	}
	if _, said, status := command(t, "serve", "--data", t.TempDir(), "--addr=127.0.0.1:0", "--metrics-addr=nowhere"); status != 2 || !strings.Contains(said, "--metrics-addr must be HOST:PORT") {
		t.Errorf("nowhere: got status %d, %q", status, said)
	}
}
