package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lipsync/internal/awstest"
)

const (
	loadClients = 200
	loadTime    = time.Minute
)

// BenchmarkLoadAWS loads the deployed stack.
func BenchmarkLoadAWS(b *testing.B) {
	h := deployed(b, awstest.Shared(b))
	h.freeRates(b)
	token, _, err := h.service().CreateKey(b.Context(), rand.Text(), "load", 0)
	if err != nil {
		b.Fatal(err)
	}
	loaded(b, h.URL+"/"+stage, token)
}

// BenchmarkLoadServe loads lipsync serve.
func BenchmarkLoadServe(b *testing.B) {
	dir := b.TempDir()
	program, data := filepath.Join(dir, "lipsync"), filepath.Join(dir, "data")
	if err := run(exec.Command("go", "build", "-trimpath", "-o", program, "../../cmd/lipsync"), "", "CGO_ENABLED=0"); err != nil {
		b.Fatal(err)
	}
	token, err := exec.Command(program, "keys", "create", "--data", data, "--name", "load").Output()
	if err != nil {
		b.Fatal(err)
	}
	loaded(b, startServe(b, program, data)+"/"+stage, strings.TrimSpace(string(token)))
}

// startServe starts lipsync serve on a free port, until the end, and returns its
// URL.
func startServe(b *testing.B, program, data string) string {
	b.Helper()
	c := exec.Command(program, "serve", "--data", data, "--addr", "127.0.0.1:0", "--generate-rate", "1000000", "--read-rate", "1000000")
	said, err := c.StderrPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait() // it was killed
	})
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
			go func() { _, _ = io.Copy(io.Discard, said) }() // else it would stall
			return url
		}
	}
	b.Fatal("the server does not listen")
	return ""
}

// load is what concurrent clients saw of a service.
type load struct {
	base, token string
	client      *http.Client

	mu       sync.Mutex
	made     []string // ids of requests
	statuses map[int]int
	failures []error
	times    []time.Duration
}

// loaded runs clients, each of which makes a request and reads it and a page of
// the list in turns, for loadTime. Then it reads each request that was made.
func loaded(b *testing.B, base, token string) {
	b.Helper()
	l := &load{
		base: base, token: token, statuses: map[int]int{},
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: loadClients}, Timeout: time.Minute},
	}
	defer l.client.CloseIdleConnections()
	for b.Loop() {
		ctx, cancel := context.WithTimeout(b.Context(), loadTime)
		l.together(func() {
			for ctx.Err() == nil {
				l.round(b.Context())
			}
		})
		cancel()
	}
	calls := len(l.times)
	slices.Sort(l.times)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(calls)/b.Elapsed().Seconds(), "calls/s")
	b.ReportMetric(float64(len(l.made)), "created")
	b.ReportMetric(float64(l.times[calls/2].Milliseconds()), "ms-median")
	b.ReportMetric(float64(l.times[calls*99/100].Milliseconds()), "ms-p99")
	b.ReportMetric(float64(l.lost(b.Context())), "lost")
	b.Logf("answers by status: %v", l.statuses)
	l.judge(b)
}

// judge fails the benchmark for an answer that isn't a good one.
func (l *load) judge(b *testing.B) {
	b.Helper()
	for status, n := range l.statuses {
		if status != http.StatusOK {
			b.Errorf("got status %d %d times", status, n)
		}
	}
	for _, err := range l.failures[:min(5, len(l.failures))] {
		b.Error(err)
	}
}

func (l *load) together(client func()) {
	var all sync.WaitGroup
	for range loadClients {
		all.Go(client)
	}
	all.Wait()
}

const loadBody = `{"inputs":[{"type":"video","url":"http://192.0.2.1/v.mp4"},{"type":"audio","url":"http://192.0.2.1/a.wav"}]}`

func (l *load) round(ctx context.Context) {
	var made struct {
		ID string `json:"request_id"`
	}
	if l.call(ctx, http.MethodPost, "/v1/lipsync/generate", loadBody, &made) != http.StatusOK {
		return
	}
	l.mu.Lock()
	l.made = append(l.made, made.ID)
	l.mu.Unlock()
	l.call(ctx, http.MethodGet, "/v1/lipsync/requests/"+made.ID, "", nil)
	l.call(ctx, http.MethodGet, "/v1/lipsync/requests?limit=5", "", nil)
}

// lost counts the requests that were made and are not found.
func (l *load) lost(ctx context.Context) int {
	var mu sync.Mutex
	lost, next := 0, 0
	l.together(func() {
		for {
			mu.Lock()
			i := next
			next++
			mu.Unlock()
			if i >= len(l.made) {
				return
			}
			if l.call(ctx, http.MethodGet, "/v1/lipsync/requests/"+l.made[i], "", nil) != http.StatusOK {
				mu.Lock()
				lost++
				mu.Unlock()
			}
		}
	})
	return lost
}

// call makes a call and counts how it was answered. It returns 0 where nothing was.
func (l *load) call(ctx context.Context, method, path, body string, answer any) int {
	started := time.Now()
	status, err := l.do(ctx, method, path, body, answer)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.failures = append(l.failures, fmt.Errorf("%s %s: %w", method, path, err))
	} else {
		l.statuses[status]++
		l.times = append(l.times, time.Since(started))
	}
	return status
}

func (l *load) do(ctx context.Context, method, path, body string, answer any) (status int, err error) {
	r, err := http.NewRequestWithContext(ctx, method, l.base+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Authorization", "Bearer "+l.token)
	r.Header.Set("Content-Type", "application/json")
	response, err := l.client.Do(r)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err == nil && answer != nil && response.StatusCode == http.StatusOK {
		err = json.Unmarshal(content, answer)
	}
	return response.StatusCode, err
}
