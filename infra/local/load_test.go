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
	"sync/atomic"
	"testing"
	"time"

	"lipsync/internal/test/awstest"
)

const (
	loadClients = 200
	loadTime    = time.Minute
)

// BenchmarkLoadAWS loads the stack on an emulator. The stack and its waiting requests end with the
// benchmark, so that the next benchmark has the machine for itself.
func BenchmarkLoadAWS(b *testing.B) {
	d := newDeployment(b, awstest.Own(b), "")
	b.Cleanup(d.close)
	d.freeRates(b)
	loaded(b, d.URL+"/"+stage, func(account string) string {
		token, _, err := d.service.CreateKey(b.Context(), account, "load", 0)
		if err != nil {
			b.Fatal(err)
		}
		return token
	})
}

// BenchmarkLoadServe loads lipsync serve.
func BenchmarkLoadServe(b *testing.B) {
	dir := b.TempDir()
	program, data := filepath.Join(dir, "lipsync"), filepath.Join(dir, "data")
	if err := run(exec.Command("go", "build", "-trimpath", "-o", program, "lipsync/cmd/lipsync"), "", "CGO_ENABLED=0"); err != nil {
		b.Fatal(err)
	}
	loaded(b, startServe(b, program, data)+"/"+stage, func(account string) string {
		token, err := exec.Command(program, "keys", "create", "--data", data, "--name", "load", "--account", account).Output()
		if err != nil {
			b.Fatal(err)
		}
		return strings.TrimSpace(string(token))
	})
}

// startServe starts lipsync serve on a free port until the end, and returns its URL.
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
		if _, rest, ok := strings.Cut(lines.Text(), " msg=listening address="); ok {
			url, _, _ := strings.Cut(rest, " ")
			go func() { _, _ = io.Copy(io.Discard, said) }() // otherwise the server would block
			return url
		}
	}
	b.Fatal("the server does not listen")
	return ""
}

// load has the results of concurrent clients of a service. Each client has its own account.
type load struct {
	base   string
	tokens []string // of the clients
	client *http.Client

	mu       sync.Mutex
	made     []made
	statuses map[int]int
	failures []error
	times    []time.Duration
}

// made is a request that was made, with the token of its client.
type made struct{ id, token string }

// loaded runs clients for loadTime. Each makes a request, reads it, and reads a page of the list,
// in turns. Then loaded reads each request that was made.
func loaded(b *testing.B, base string, newKey func(account string) (token string)) {
	b.Helper()
	l := &load{
		base: base, statuses: map[int]int{},
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: loadClients}, Timeout: time.Minute},
	}
	defer l.client.CloseIdleConnections()
	for range loadClients {
		l.tokens = append(l.tokens, newKey(rand.Text()))
	}
	for b.Loop() {
		ctx, cancel := context.WithTimeout(b.Context(), loadTime)
		l.together(func(token string) {
			for ctx.Err() == nil {
				l.round(b.Context(), token)
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

// judge fails the benchmark if any answer was wrong, and shows some of those.
func (l *load) judge(b *testing.B) {
	b.Helper()
	if n := len(l.failures); n > 0 {
		b.Errorf("%d calls failed", n)
	}
	for _, err := range l.failures[:min(5, len(l.failures))] {
		b.Error(err)
	}
}

func (l *load) together(client func(token string)) {
	var all sync.WaitGroup
	for _, token := range l.tokens {
		all.Go(func() { client(token) })
	}
	all.Wait()
}

const loadBody = `{"inputs":[{"type":"video","url":"http://192.0.2.1/v.mp4"},{"type":"audio","url":"http://192.0.2.1/a.wav"}]}`

func (l *load) round(ctx context.Context, token string) {
	var answer struct {
		ID string `json:"request_id"`
	}
	if !l.call(ctx, token, http.MethodPost, "/v1/lipsync/generate", loadBody, &answer) {
		return
	}
	l.mu.Lock()
	l.made = append(l.made, made{answer.ID, token})
	l.mu.Unlock()
	l.call(ctx, token, http.MethodGet, "/v1/lipsync/requests/"+answer.ID, "", nil)
	l.call(ctx, token, http.MethodGet, "/v1/lipsync/requests?limit=5", "", nil)
}

// lost counts the requests that were made and are not found.
func (l *load) lost(ctx context.Context) int {
	left := make(chan made)
	go func() {
		defer close(left)
		for _, m := range l.made {
			left <- m
		}
	}()
	var lost atomic.Int32
	l.together(func(string) {
		for m := range left {
			if !l.call(ctx, m.token, http.MethodGet, "/v1/lipsync/requests/"+m.id, "", nil) {
				lost.Add(1)
			}
		}
	})
	return int(lost.Load())
}

// call makes a call, counts its answer, and reports whether it succeeded.
func (l *load) call(ctx context.Context, token, method, path, body string, answer any) bool {
	started := time.Now()
	status, err := l.do(ctx, token, method, path, body, answer)
	took := time.Since(started)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.failures = append(l.failures, fmt.Errorf("%s %s after %v: %w", method, path, took, err))
	}
	l.statuses[status]++
	l.times = append(l.times, took)
	return err == nil
}

func (l *load) do(ctx context.Context, token, method, path, body string, answer any) (status int, err error) {
	r, err := http.NewRequestWithContext(ctx, method, l.base+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	response, err := l.client.Do(r)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
	case response.StatusCode != http.StatusOK:
		err = fmt.Errorf("%s: %s", response.Status, content)
	case answer != nil:
		err = json.Unmarshal(content, answer)
	}
	return response.StatusCode, err
}
