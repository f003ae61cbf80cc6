package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lipsync/internal/test/ffmpegtest"
)

// The tests of this package run the program as its users do, as a process.

// fixtures has the program, a small job for it, and a longer speech track, for all tests.
var fixtures struct{ program, video, speech, long string }

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == supervised {
		fmt.Fprintln(os.Stderr, execSupervised(os.Args[2:]))
		os.Exit(1)
	}
	if len(os.Args) > 2 && os.Args[1] == inPieces {
		if err := serveInPieces(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	dir, err := os.MkdirTemp("", "lipsync-test-")
	if err == nil {
		err = makeFixtures(dir)
	}
	status := 1
	if err == nil {
		status = m.Run()
	} else {
		fmt.Fprintln(os.Stderr, err)
	}
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

func makeFixtures(dir string) error {
	f := &fixtures
	f.program, f.video = filepath.Join(dir, "lipsync"), filepath.Join(dir, "video.mp4")
	f.speech, f.long = filepath.Join(dir, "speech.wav"), filepath.Join(dir, "long.wav")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-w", "-tags", "netgo,osusergo", "-o", f.program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w: %s", err, out)
	}
	large := filepath.Join(dir, "large.mp4")
	if err := ffmpegtest.DrawHead(context.Background(), large, 15); err != nil {
		return err
	}
	return errors.Join(
		runFFmpeg("-i", large, "-vf", "scale=480:270", f.video),
		runFFmpeg("-f", "lavfi", "-i", "sine=frequency=200:duration=0.6", f.speech),
		runFFmpeg("-f", "lavfi", "-i", "sine=frequency=200:duration=2", f.long))
}

func runFFmpeg(args ...string) error {
	out, err := exec.Command("ffmpeg", append([]string{"-v", "error", "-nostdin", "-y"}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ffmpeg: %w: %s", err, out)
	}
	return nil
}

// command runs the program to its end, or for some minutes if it doesn't end.
func command(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, fixtures.program, args...)
	var out, said strings.Builder
	c.Stdout, c.Stderr = &out, &said
	err := c.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), said.String(), c.ProcessState.ExitCode()
}

// server is a running lipsync serve.
type server struct {
	url, data string
	process   *exec.Cmd
	log       *record
	done      chan error
}

// record keeps the lines that a server printed.
type record struct {
	mu    sync.Mutex
	lines []string
}

func (r *record) add(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, line)
}

// with returns the lines that contain the text.
func (r *record) with(text string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []string
	for _, line := range r.lines {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}

// startServer starts a server on a data folder and waits until it listens.
func startServer(t *testing.T, data string, args ...string) *server {
	t.Helper()
	return start(t, data, exec.Command(fixtures.program, serveArgs(data, args)...))
}

func serveArgs(data string, args []string) []string {
	return append([]string{"serve", "--data", data, "--addr", "127.0.0.1:0"}, args...)
}

// start starts a server by a command and waits until it listens.
func start(t *testing.T, data string, process *exec.Cmd) *server {
	t.Helper()
	s := &server{data: data, process: process, log: new(record), done: make(chan error, 1)}
	stderr, err := s.process.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.kill() })
	listening := make(chan string, 1)
	go func() { s.done <- s.follow(stderr, listening) }()
	// A number of checks, and no point in time: a machine may be paused.
	for looks, waits := 0, true; waits; looks++ {
		select {
		case s.url = <-listening:
			waits = false
		case <-time.After(100 * time.Millisecond):
			if looks == 600 {
				t.Fatalf("the server does not listen: %q", s.log.with(""))
			}
		}
	}
	if s.url == "" {
		t.Fatalf("the server ended: %q", s.log.with(""))
	}
	return s
}

// listens is in the line of a log of text, or of JSON, that says at which address a server listens.
var listens = regexp.MustCompile(`msg"?[=:]"?listening"?[ ,]"?address"?[=:]"?(http://[^ "]+)`)

// follow reads the server's messages until it ends.
func (s *server) follow(stderr io.Reader, listening chan<- string) error {
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		s.log.add(lines.Text())
		if found := listens.FindStringSubmatch(lines.Text()); found != nil {
			listening <- found[1]
		}
	}
	close(listening)
	return s.process.Wait()
}

// kill kills the server as kill -9 does, if it still runs, and waits for its end.
func (s *server) kill() {
	_ = s.process.Process.Kill()
	s.done <- <-s.done
}

// stop ends the server as an operator does, and returns the error with which it ended.
func (s *server) stop(t *testing.T) error {
	t.Helper()
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-s.done:
		s.done <- err
		return err
	case <-time.After(10 * time.Second):
		return errors.New("it still runs after 10 s")
	}
}

// stopped ends the server once it has tidied.
func (s *server) stopped(t *testing.T) {
	t.Helper()
	s.waitLog(t, "tidy", time.Minute)
	if err := s.stop(t); err != nil {
		t.Fatal(err)
	}
}

// waitLog waits until the server printed the text, for patience at most.
func (s *server) waitLog(t *testing.T, text string, patience time.Duration) {
	t.Helper()
	waitText(t, text, patience, func() string { return strings.Join(s.log.with(""), "\n") })
}

// waitText waits until what read returns has a text, for patience at most.
func waitText(t *testing.T, text string, patience time.Duration, read func() string) {
	t.Helper()
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		said := read()
		if strings.Contains(said, text) {
			return
		}
		if time.Since(start) > patience {
			t.Fatalf("got %q after %v, want %q", said, patience, text)
		}
	}
}

// newKey makes a key by the command line.
func newKey(t *testing.T, data string, args ...string) string {
	t.Helper()
	out, said, status := command(t, append([]string{"keys", "create", "--data", data, "--name", "test"}, args...)...)
	if status != ok {
		t.Fatalf("keys create: status %d: %s", status, said)
	}
	return strings.TrimSpace(out)
}

// wait waits until a request is final.
func (c testClient) wait(t *testing.T, id string) request {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		r, err := c.request(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if r.Status == "completed" || r.Status == "failed" {
			return r
		}
	}
	t.Fatalf("request %s is not done after 5 minutes", id)
	return request{}
}
