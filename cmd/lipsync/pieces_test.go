package main

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lipsync/internal/domain/operator"
)

// inPieces is the first argument with which the test's own program serves a data folder, and makes outputs in short pieces.
const inPieces = "in-pieces"

func serveInPieces(data string) error {
	c := serveCommand{
		renderFlags: renderFlags{Engine: "warp"}, Addr: "127.0.0.1:0", Workers: 1,
		Settings: operator.Settings{
			GenerateRate: 100, ReadRate: 1000, MaxVideo: 1 << 30, MaxAudio: 1 << 30, KeepInputs: time.Hour, KeepOutputs: time.Hour,
			MaxDuration: time.Hour, MaxSide: 4096, MaxFPS: 120, MaxGigapixels: 1,
		},
		pieceTime: 200 * time.Millisecond,
	}
	c.Data = data
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return c.Run(ctx, nil, streams{Out: os.Stdout, Err: os.Stderr, In: os.Stdin})
}

// TestResume_long kills a server in the middle of a rendering, twice. The next server goes on after the pieces that the last one kept. The output
// must have the frames of one that was never interrupted.
func TestResume_long(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	serve := func() *server { return start(t, data, exec.Command(self, inPieces, data)) }
	long := filepath.Join(t.TempDir(), "long.wav")
	if err := runFFmpeg("-f", "lavfi", "-i", "sine=frequency=200:duration=30", long); err != nil {
		t.Fatal(err)
	}
	s := serve()
	key := newKey(t, data)
	id, err := testClient{s.url, key}.generate(t.Context(), fixtures.video, long)
	if err != nil {
		t.Fatal(err)
	}
	for claim := range 2 {
		s.awaitPieces(t, id, claim+1)
		s.kill()
		if claim > 0 {
			s.wantResumed(t)
		}
		s = serve()
	}
	if r := (testClient{s.url, key}).wait(t, id); r.Status != "completed" {
		t.Fatalf("got %+v", r)
	}
	s.wantResumed(t)
	if err := s.stop(t); err != nil {
		t.Error(err)
	}
	wantOnlyNamedFiles(t, data, 1)

	whole := filepath.Join(t.TempDir(), "whole.mp4")
	if _, said, status := command(t, "sync", fixtures.video, long, "-o", whole); status != ok {
		t.Fatalf("sync: status %d: %s", status, said)
	}
	resumed, err := filepath.Glob(filepath.Join(data, "objects", "files", "outputs", id, "*.mp4"))
	if err != nil || len(resumed) != 1 {
		t.Fatalf("got outputs %q (%v), want one", resumed, err)
	}
	if got, want := frameTimes(t, resumed[0]), frameTimes(t, whole); !slices.Equal(got, want) {
		t.Errorf("got %d frames at %.100s, want %d at %.100s", len(got), got, len(want), want)
	}
}

// wantResumed checks that the server went on after pieces of the server before it.
func (s *server) wantResumed(t *testing.T) {
	t.Helper()
	lines := s.log.with("goes on after the pieces of earlier attempts")
	t.Logf("%q", lines)
	if len(lines) != 1 || !regexp.MustCompile(`attempt=1 pieces=[1-9]`).MatchString(lines[0]) {
		t.Errorf("got %q, want one line that tells of pieces", lines)
	}
}

// awaitPieces waits until a piece of the request's output is kept that the server began.
func (s *server) awaitPieces(t *testing.T, id string, claim int) {
	t.Helper()
	folder := filepath.Join(s.data, "objects", "files", "pieces", id, []string{"", "1", "2"}[claim])
	for looks := 0; ; looks++ {
		entries, err := os.ReadDir(folder)
		if len(entries) >= 2 {
			return
		}
		if looks == 60_000 || len(s.log.with("msg=completed")) > 0 {
			t.Fatalf("no pieces are kept in %s: %v, %q", folder, err, s.log.with(""))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// frameTimes returns the times of a file's pictures.
func frameTimes(t *testing.T, path string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts", "-of", "csv=p=0", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	times := strings.Fields(string(out))
	slices.Sort(times)
	return times
}
