package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/test/awstest"
	"lipsync/internal/test/check"
)

// TestServe_long starts the service as make aws-local does, at a running emulator, and interrupts it.
// Nothing may be left there. Its programs are those of all tests.
func TestServe_long(t *testing.T) {
	e := awstest.Own(t)
	check.Must(t, fixtures.make())
	compiled := func(context.Context, string, string) (*built, error) {
		b := *fixtures.built
		return &b, nil
	}
	before := things(t, e)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	t.Chdir(filepath.Join("..", ".."))
	t.Setenv("TMPDIR", t.TempDir())
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	lines, out := io.Pipe()
	served := make(chan error, 1)
	go func() {
		err := serve(ctx, compiled, []string{"--endpoint", e.URL, "--read-rate", "2"}, out, log)
		served <- err
		out.CloseWithError(err)
	}()
	said := bufio.NewScanner(lines)
	address, key := value(t, said, "API_URL="), value(t, said, "API_KEY=")
	for _, want := range []int{http.StatusOK, http.StatusOK, http.StatusTooManyRequests} {
		if got := statusAt(t, address+"/v1/users/me", key); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
	pages := value(t, said, "DASHBOARD_URL=")
	if got := statusAt(t, pages, ""); pages != address+"/dashboard" || got != http.StatusOK {
		t.Errorf("got %d at %s, want the page to sign in at", got, pages)
	}
	interrupt()
	if err := <-served; err != nil {
		t.Errorf("after the interrupt: %v", err)
	}
	if got := things(t, e); !slices.Equal(got, before) {
		t.Errorf("got %q at the emulator, want %q as before", got, before)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("got %v left on this machine (error %v), want nothing", left, err)
	}
}

// value returns the value of a name that the next line must have.
func value(t *testing.T, lines *bufio.Scanner, name string) string {
	t.Helper()
	lines.Scan()
	value, ok := strings.CutPrefix(lines.Text(), name)
	if !ok {
		t.Fatalf("got %q (error %v), want %s", lines.Text(), lines.Err(), name)
	}
	return value
}

func statusAt(t *testing.T, url, key string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}
