package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFullDisk serves from a disk of 64 MiB that another program fills while requests wait. Reads
// and cancels go on, and new media are refused. When there is space again, all waiting requests
// complete, and no attempt was counted.
func TestFullDisk(t *testing.T) {
	disk := newSmallDisk(t, "64m")
	args := serveArgs(disk.data(), []string{"--workers", "1", "--disk-reserve", "4MiB"})
	s := start(t, disk.path("data"), disk.within(append([]string{fixtures.program}, args...)...))
	c := testClient{s.url, disk.newKey(t)}
	generate := func() (string, error) { return c.generate(t.Context(), fixtures.video, fixtures.speech) }
	var ids []string
	for range 6 {
		id, err := generate()
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	filler := disk.path("filler")
	fill(t, filler)
	s.waitLog(t, "postponed", time.Minute) // whichever step meets the full disk
	fill(t, filler)                        // fill the space that the attempt or the database freed

	for _, call := range []struct {
		method, path, body string
		status             int
	}{
		{http.MethodGet, "/users/me", "", 200},
		{http.MethodGet, "/lipsync/requests", "", 200},
		{http.MethodGet, "/lipsync/requests/" + ids[0], "", 200},
		{http.MethodGet, "/lipsync/requests/" + ids[5] + "/progress", "", 200},
		{http.MethodPost, "/uploads", `{"type":"video","size":5}`, 507},
		{http.MethodPost, "/lipsync/generate", `{"inputs":[{"type":"video","url":"http://127.0.0.1/v"},{"type":"audio","url":"http://127.0.0.1/a"}]}`, 507},
		{http.MethodDelete, "/lipsync/requests/" + ids[5], "", 200},
		{http.MethodDelete, "/lipsync/requests/" + ids[4], "", 200},
	} {
		if got := c.status(t, call.method, call.path, call.body); got != call.status {
			t.Errorf("%s %s: got %d, want %d", call.method, call.path, got, call.status)
		}
	}
	if _, err := generate(); err == nil || !strings.Contains(err.Error(), "507") {
		t.Errorf("new media on a full disk: got %v, want 507", err)
	}
	s.wantNothingOf(t, ids[4], ids[5])

	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids[:4] {
		if r := c.wait(t, id); r.Status != "completed" {
			t.Errorf("got %+v, want it completed", r)
		}
	}
	if id, err := generate(); err != nil {
		t.Error(err)
	} else {
		c.wait(t, id)
	}
	if again := s.log.with("attempt=2"); again != nil {
		t.Errorf("an attempt was spent: %q", again)
	}
}

// TestLargerThanDisk asks for an output that the disk can't hold. It fails at once, and isn't tried again.
func TestLargerThanDisk(t *testing.T) {
	disk := newSmallDisk(t, "64m")
	args := serveArgs(disk.data(), []string{"--workers", "1", "--disk-reserve", "8MiB"})
	s := start(t, disk.path("data"), disk.within(append([]string{fixtures.program}, args...)...))
	c := testClient{s.url, disk.newKey(t)}
	speech := filepath.Join(t.TempDir(), "speech.wav")
	if err := runFFmpeg("-f", "lavfi", "-i", "sine=frequency=200:duration=30", speech); err != nil {
		t.Fatal(err)
	}
	id := c.begin(t, map[string]any{
		"inputs": inputs(c.upload(t, "video", fixtures.video), c.upload(t, "audio", speech)),
		"output": map[string]any{"format": "mov", "codec": "prores"},
	})
	const want = "output and its files take 135 MiB, and this service's disk has room for 60 MiB"
	if r := c.wait(t, id); r.Status != "failed" || r.ErrorMessage != want {
		t.Errorf("got %+v, want %q", r, want)
	}
	if late := s.log.with("postponed"); late != nil {
		t.Errorf("it was postponed: %q", late)
	}
}

// smallDisk is a disk of a few megabytes, in a mount namespace of its own. The namespace lives as
// long as a process, the holder.
type smallDisk struct {
	holder *exec.Cmd
	dir    string // where it is mounted, for processes in the namespace
}

// newSmallDisk mounts a disk of the size. It skips the test if this host doesn't allow that.
func newSmallDisk(t *testing.T, size string) smallDisk {
	t.Helper()
	const mount = `mount -t tmpfs -o size="$0" tmpfs "$1" && echo mounted && exec cat`
	d := smallDisk{dir: t.TempDir()}
	d.holder = exec.Command("unshare", "-rm", "sh", "-c", mount, size, d.dir)
	stdin, err := d.holder.StdinPipe() // it ends with this process, and then the holder ends
	if err != nil {
		t.Fatal(err)
	}
	said, err := d.holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.holder.Start(); err != nil {
		t.Skipf("no small disk can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = d.holder.Wait()
	})
	if n, err := said.Read(make([]byte, 8)); n == 0 {
		t.Skipf("no small disk can be mounted here: %v", err)
	}
	return d
}

// within returns a command that sees the disk.
func (d smallDisk) within(command ...string) *exec.Cmd {
	pid := strconv.Itoa(d.holder.Process.Pid)
	return exec.Command("nsenter", append([]string{"-t", pid, "-U", "-m", "--preserve-credentials"}, command...)...)
}

// path returns the path of a file on the disk for processes outside the namespace.
func (d smallDisk) path(name string) string {
	return filepath.Join(fmt.Sprintf("/proc/%d/root", d.holder.Process.Pid), d.dir, name)
}

// data returns the path of the data folder on the disk, for processes in the namespace.
func (d smallDisk) data() string { return filepath.Join(d.dir, "data") }

// copied returns a copy of the data folder: SQLite opens no file of another mount namespace.
func (d smallDisk) copied(t *testing.T) string {
	t.Helper()
	data := t.TempDir()
	if err := os.CopyFS(data, os.DirFS(d.path("data"))); err != nil {
		t.Fatal(err)
	}
	return data
}

// newKey makes a key, by a process in the namespace.
func (d smallDisk) newKey(t *testing.T, args ...string) string {
	t.Helper()
	out, err := d.within(append([]string{fixtures.program, "keys", "create", "--data", d.data(), "--name", "test"}, args...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// fill writes to a file until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, n := range []int{1 << 20, 4 << 10} {
		for err == nil {
			_, err = f.Write(make([]byte, n))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		err = nil
	}
}

// status makes a call and returns the status of its answer.
func (c testClient) status(t *testing.T, method, path, body string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, c.base+"/api/v1"+path, bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	t.Logf("%s %s: %s %s (%v)", method, path, response.Status, answer, err)
	return response.StatusCode
}
