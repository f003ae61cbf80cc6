package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lipsync/internal/test/clienttest"
)

// send runs the command against a service.
func send(t *testing.T, url, key string, args ...string) (stdout, said string, status int) {
	t.Helper()
	c := sending(t, url, key, args...)
	var out, err strings.Builder
	c.Stdout, c.Stderr = &out, &err
	if e := c.Run(); e != nil && !errors.As(e, new(*exec.ExitError)) {
		t.Fatal(e)
	}
	return out.String(), err.String(), c.ProcessState.ExitCode()
}

func sending(t *testing.T, url, key string, args ...string) *exec.Cmd {
	c := exec.CommandContext(t.Context(), fixtures.program, append([]string{"send", "--url", url}, args...)...)
	c.Env = append(os.Environ(), "LIPSYNC_KEY="+key)
	return c
}

// TestSend makes an output by a real server, which another process restarts meanwhile.
func TestSend(t *testing.T) {
	dir, data := t.TempDir(), t.TempDir()
	out := filepath.Join(dir, "out.webm")
	port := freePort(t)
	s := startServer(t, data, "--addr", port)
	key := newKey(t, data)
	c := sending(t, s.url+"/api", key, fixtures.video, fixtures.long, "-o", out, "--sync-mode", "loop", "--width", "240", "--fps", "12.5")
	said := &watched{}
	c.Stderr = said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	said.waitFor(t, ": request ")
	s.kill()
	said.waitFor(t, "trying again in")
	s = startServer(t, data, "--addr", port)
	if err := c.Wait(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	wantVideo(t, out, "240,136,25/2,25")
	if text := said.String(); !strings.Contains(text, "sending video.mp4\n") || !strings.HasSuffix(text, "The output is "+out+"\n") || strings.Contains(text, key) {
		t.Errorf("got %q", text)
	}
	wantFiles(t, dir, "out.webm")
	stdout, quiet, status := send(t, s.url, key, fixtures.video, fixtures.speech, "-q", "-o", "-", "--preview", "0,0.2")
	if status != ok || quiet != "" || len(stdout) < 1000 {
		t.Errorf("got status %d, %q and %d bytes", status, quiet, len(stdout))
	}
}

// freePort returns an address that no server uses.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// watched is a stream that a test reads while a program writes to it.
type watched struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

func (w *watched) waitFor(t *testing.T, text string) {
	t.Helper()
	waitText(t, text, time.Minute, w.String)
}

// worker finishes the requests of a service: each gets its speech track's name as the output, and those of a track named bad fail.
func finishAll(t *testing.T, s *clienttest.Service, requests int) {
	for range requests {
		for {
			r, err := s.Claim(t.Context(), "")
			if err != nil {
				time.Sleep(10 * time.Millisecond)
				continue
			}
			output := r.Audio.Name
			if strings.HasPrefix(output, "bad") {
				output = ""
			}
			s.Finish(t, r, output)
			break
		}
	}
}

// TestSendFolder makes an output for each speech track of a folder. One is refused, and one fails.
func TestSendFolder(t *testing.T) {
	s := clienttest.New(t)
	audios, outputs := t.TempDir(), t.TempDir()
	for name, size := range map[string]int{"a.wav": 10, "bad.wav": 10, "c.mp3": 10, "large.wav": 2 << 20, ".hidden": 10, "notes.txt": 10} {
		if err := os.WriteFile(filepath.Join(audios, name), bytes.Repeat([]byte("x"), size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	go finishAll(t, s, 3)
	_, said, status := send(t, s.URL.String(), s.Key, fixtures.video, audios, "-o", outputs)
	if status != failed || !strings.HasSuffix(said, "lipsync: 2 of 4 speech tracks failed\n") {
		t.Errorf("got status %d, %s", status, said)
	}
	for _, want := range []string{audios + "/notes.txt is no audio: left out\n", "lipsync: " + audios + "/large.wav: audio is larger than 1 MiB: 2097152 bytes\n", "lipsync: " + audios + "/bad.wav: no face found in the video\n", "Synced 12 of 15 frames\nNot synced: 0.2–0.3 s, something is in front of the mouth; and 1 more.\n"} {
		if !strings.Contains(said, want) {
			t.Errorf("got %s, want %q", said, want)
		}
	}
	wantFiles(t, outputs, "a.mp4", "c.mp4")
	if text := read(t, filepath.Join(outputs, "c.mp4")); string(text) != "c.mp3" {
		t.Errorf("got the output %q of c.mp3", text)
	}
	if n := strings.Count(said, "sending video.mp4\n"); n != 1 {
		t.Errorf("sent the video %d times", n)
	}
}

// TestSendMistakes gives arguments that can't work, and has no service.
func TestSendMistakes(t *testing.T) {
	folder := t.TempDir()
	s := clienttest.New(t)
	nowhere := "http://" + freePort(t)
	two := t.TempDir()
	for _, name := range []string{"a.wav", "a.mp3"} {
		if err := os.WriteFile(filepath.Join(two, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		url, key string
		args     []string
		status   int
		want     string
	}{
		{nowhere, "key", []string{fixtures.video, fixtures.speech, "-o", folder + "/o.mp4"}, failed, strings.TrimPrefix(nowhere, "http://") + ": dial tcp"},
		{s.URL.String(), "wrong", []string{fixtures.video, fixtures.speech, "-o", folder + "/o.mp4"}, failed, ": invalid token"},
		{s.URL.String(), "", []string{fixtures.video, fixtures.speech, "-o", folder + "/o.mp4"}, failed, "there is no API key: set LIPSYNC_KEY, or give a file with the key to --key-file"},
		{s.URL.String(), s.Key, []string{fixtures.video, fixtures.speech, "-o", folder + "/o.avi"}, usage, "name it " + folder + "/o.mp4"},
		{s.URL.String(), s.Key, []string{"https://example.com/a.mp4", fixtures.speech, "-o", folder + "/o.mp4"}, failed, "send takes local files"},
		{s.URL.String(), s.Key, []string{fixtures.video, folder, "-o", folder + "/o.mp4"}, failed, "make the folder " + folder + "/o.mp4"},
		{s.URL.String(), s.Key, []string{fixtures.video, folder, "-o", folder}, failed, folder + " has no audio files"},
		{s.URL.String(), s.Key, []string{fixtures.video, two, "-o", folder}, failed, "a.mp3 and a.wav would have the same output"},
		{s.URL.String(), s.Key, []string{fixtures.video, fixtures.speech, "-o", folder + "/o.mp4", "--model", "best"}, failed, "model must be one of: warp"},
		{"ftp://example.com", s.Key, []string{fixtures.video, fixtures.speech, "-o", folder + "/o.mp4"}, usage, "--url must be http://HOST"},
	} {
		if _, said, status := send(t, c.url, c.key, c.args...); status != c.status || !strings.Contains(said, c.want) {
			t.Errorf("%q: got status %d, %q, want %q", c.args, status, said, c.want)
		}
	}
	wantFiles(t, folder)
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(s.Key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	go finishAll(t, s, 1)
	if _, said, status := send(t, s.URL.String(), "", fixtures.video, fixtures.speech, "-o", folder+"/o.mp4", "--key-file", file); status != ok {
		t.Errorf("got status %d, %q", status, said)
	}
}

// TestSendInterrupted sends Ctrl-C while a request waits. On a terminal the program asks, and cancels the request or not; elsewhere the request goes on.
func TestSendInterrupted(t *testing.T) {
	for _, c := range []struct {
		terminal   bool
		answer     string
		want, left string // what is said, and the status of the request
	}{
		{false, "", " goes on\n", "queued"},
		{true, "y\n", " is canceled\r\n", "failed"},
		{true, "\n", " goes on\r\n", "queued"},
	} {
		s := clienttest.New(t)
		folder := t.TempDir()
		program := sending(t, s.URL.String(), s.Key, fixtures.video, fixtures.speech, "-o", folder+"/o.mp4")
		said := &watched{}
		program.Stderr = said
		var keyboard *os.File
		if c.terminal {
			var screen *os.File
			keyboard, screen = terminal(t)
			program.Stdin, program.Stderr = screen, screen
			go func() { _, _ = io.Copy(said, keyboard) }()
		}
		if err := program.Start(); err != nil {
			t.Fatal(err)
		}
		said.waitFor(t, ": request ")
		if err := program.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		if c.terminal {
			said.waitFor(t, "Cancel the request? [y/N] ")
			if _, err := keyboard.WriteString(c.answer); err != nil {
				t.Fatal(err)
			}
		}
		_ = program.Wait()
		said.waitFor(t, "lipsync: interrupted")
		if status := program.ProcessState.ExitCode(); status != failed || !strings.Contains(said.String(), c.want) {
			t.Errorf("%+v: got status %d, %q", c, status, said)
		}
		wantFiles(t, folder)
		var page struct{ Data []request }
		if err := (testClient{s.URL.String(), s.Key}).call(t.Context(), http.MethodGet, "/api/v1/lipsync/requests", "", nil, &page); err != nil {
			t.Fatal(err)
		}
		if len(page.Data) != 1 || page.Data[0].Status != c.left {
			t.Errorf("%+v: got the requests %+v", c, page.Data)
		}
	}
}

// terminal makes a terminal: what is written to the keyboard can be read from the screen, and the other way round.
func terminal(t *testing.T) (keyboard, screen *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { keyboard.Close() })
	number, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	return keyboard, screen
}
