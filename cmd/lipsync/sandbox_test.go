package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestSandbox checks that the server logs which layers of the sandbox work, and that its process is
// hidden from others of the same user: the kernel gives its files in /proc to root.
func TestSandbox(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("runs the server as another user: run as root")
	}
	const user = 65534
	home, err := os.MkdirTemp("", "lipsync-sandbox-") // that user can read this folder too
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	program, err := os.ReadFile(fixtures.program)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(home, "lipsync")
	for _, err := range []error{os.WriteFile(copied, program, 0o755), os.Chown(home, user, user)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), copied, "serve", "--data", filepath.Join(home, "data"), "--addr", "127.0.0.1:0")
	c.Env = append(os.Environ(), "HOME="+home)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewScanner(stderr); !listens.MatchString(said.String()) && lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
	}
	environment, err := os.Stat(fmt.Sprintf("/proc/%d/environ", c.Process.Pid))
	_ = c.Process.Kill()
	_ = c.Wait()
	if err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	if owner := environment.Sys().(*syscall.Stat_t).Uid; owner != 0 {
		t.Errorf("its environment belongs to %d, want 0: it is not hidden", owner)
	}
	const want = `msg="sandbox of ffmpeg" layers.landlock=`
	if n := strings.Count(said.String(), want); n != 1 {
		t.Errorf("%d lines with %s in %s", n, want, said.String())
	}
}
