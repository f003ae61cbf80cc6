package disk_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lipsync/internal/store/disk"
	"lipsync/internal/test/lipsynctest"
)

func open(t testing.TB, dir string, now func() time.Time) *disk.Objects {
	t.Helper()
	objects, err := disk.Open(dir, now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { objects.Close() })
	return objects
}

// tree returns the files and folders below dir.
func tree(t testing.TB, dir string) []string {
	t.Helper()
	var all []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, _ fs.DirEntry, err error) error {
		all = append(all, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestObjects(t *testing.T) {
	lipsynctest.TestObjects(t, func(t *testing.T) lipsynctest.ObjectsFixture {
		clock := lipsynctest.NewClock()
		objects := open(t, t.TempDir(), clock.Now)
		server := httptest.NewServer(objects.Handler())
		t.Cleanup(server.Close)
		return lipsynctest.ObjectsFixture{Objects: objects, Base: server.URL, Now: clock.Now, Sleep: clock.Advance}
	})
}

// TestNothingRemains checks that the folder has no files that List does not show.
func TestNothingRemains(t *testing.T) {
	dir := t.TempDir()
	objects := open(t, dir, time.Now)
	before := tree(t, dir)
	if err := objects.Put(t.Context(), "inputs/a/video", strings.NewReader("short"), 9); err == nil {
		t.Error("a short put was accepted")
	}
	if err := objects.Put(t.Context(), "inputs/a/video", strings.NewReader("fives"), 5); err != nil {
		t.Fatal(err)
	}
	if err := objects.Delete(t.Context(), "inputs/a/video"); err != nil {
		t.Fatal(err)
	}
	if after := tree(t, dir); !slices.Equal(after, before) {
		t.Errorf("got %v, want %v", after, before)
	}
}

// TestPutOfNobody lets a client disconnect after its upload has arrived.
func TestPutOfNobody(t *testing.T) {
	var log strings.Builder
	objects, err := disk.Open(t.TempDir(), time.Now, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer objects.Close()
	u, _, err := objects.SignPut(t.Context(), "uploads/u", 5, "", time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := httptest.NewRecorder()
	objects.Handler().ServeHTTP(w, httptest.NewRequestWithContext(ctx, "PUT", u.String(), strings.NewReader("video")))
	if w.Code != http.StatusBadRequest || log.Len() > 0 {
		t.Errorf("got %d and %q in the log, want 400 and nothing", w.Code, log.String())
	}
}

func TestClean(t *testing.T) {
	dir := t.TempDir()
	objects := open(t, dir, time.Now)
	before := tree(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "partial", "left"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := objects.Clean(); err != nil {
		t.Fatal(err)
	}
	if after := tree(t, dir); !slices.Equal(after, before) {
		t.Errorf("got %v, want %v", after, before)
	}
}

// TestSecretStays signs a URL before a restart and uses it after.
func TestSecretStays(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir, time.Now)
	if err := first.Put(t.Context(), "a", strings.NewReader("text"), 4); err != nil {
		t.Fatal(err)
	}
	u, err := first.SignGet(t.Context(), "a", "a.txt", time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir  string
		want int
	}{{dir, http.StatusOK}, {t.TempDir(), http.StatusForbidden}} {
		w := httptest.NewRecorder()
		open(t, c.dir, time.Now).Handler().ServeHTTP(w, httptest.NewRequest("GET", u.String(), nil))
		if w.Code != c.want {
			t.Errorf("got status %d, want %d", w.Code, c.want)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "secret"))
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("got mode %v, want 0600", got)
	}
}

// TestOneSecret opens a new folder many times at once, as the server and other commands may.
func TestOneSecret(t *testing.T) {
	dir, signed := t.TempDir(), make(chan string)
	const n = 20
	for range n {
		go func() {
			objects, err := disk.Open(dir, time.Now, slog.New(slog.DiscardHandler))
			if err != nil {
				signed <- err.Error()
				return
			}
			defer objects.Close()
			u, err := objects.SignGet(t.Context(), "a", "a.txt", time.Unix(2e9, 0))
			signed <- fmt.Sprint(u, err)
		}()
	}
	want := <-signed
	for range n - 1 {
		if got := <-signed; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := tree(t, dir); !slices.Equal(got, []string{".", "files", "partial", "secret"}) {
		t.Errorf("got %v in the folder", got)
	}
}

func TestHandler(t *testing.T) {
	objects := open(t, t.TempDir(), time.Now)
	if err := objects.Put(t.Context(), "a", strings.NewReader("<html>"), -1); err != nil {
		t.Fatal(err)
	}
	u, err := objects.SignGet(t.Context(), "a", "a.mp4", time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, header, want string
		status               int
	}{
		{"GET", "X-Content-Type-Options", "nosniff", 200},
		{"GET", "Content-Disposition", "attachment; filename=a.mp4", 200},
		{"GET", "Content-Type", "video/mp4", 200},
		{"HEAD", "Content-Length", "6", 200},
		{"DELETE", "Allow", "GET, HEAD, PUT", 405},
		{"POST", "Content-Type", "application/json", 405},
	} {
		w := httptest.NewRecorder()
		objects.Handler().ServeHTTP(w, httptest.NewRequest(c.method, u.String(), nil))
		if got := w.Result().Header.Get(c.header); got != c.want || w.Code != c.status {
			t.Errorf("%s: got %d, %s %q, want %d, %q", c.method, w.Code, c.header, got, c.status, c.want)
		}
	}
}

// TestCurl uploads a file with curl.
func TestCurl(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	objects := open(t, t.TempDir(), time.Now)
	server := httptest.NewServer(objects.Handler())
	defer server.Close()
	file := filepath.Join(t.TempDir(), "file.bin")
	const size = 3 << 20 // more than curl sends before it waits for 100 Continue
	if err := os.WriteFile(file, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	u, _, err := objects.SignPut(t.Context(), "uploads/u", size, "", time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(curl, "-sS", "--fail", "-T", file, server.URL+u.String()).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got, err := objects.Size(t.Context(), "uploads/u"); err != nil || got != size {
		t.Errorf("got %d bytes (%v), want %d", got, err, size)
	}
}

// FuzzKey puts an object under any key. Either it fails, or it creates the one file that List
// returns; and nothing outside the folder changes.
func FuzzKey(f *testing.F) {
	for _, key := range []string{"a/b", "../x", "/etc/x", "a/../../x", "a//b", ".", "", "a/.", "a\x00b", `..\x`, "ü/\xff", "secret"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		outside := t.TempDir()
		dir := filepath.Join(outside, "inside")
		objects := open(t, dir, time.Now)
		secret, err := os.ReadFile(filepath.Join(dir, "secret"))
		if err != nil {
			t.Fatal(err)
		}
		putErr := objects.Put(t.Context(), key, strings.NewReader("x"), 1)
		var keys []string
		err = objects.List(t.Context(), "", func(key string, _ time.Time) error { keys = append(keys, key); return nil })
		if err != nil {
			t.Fatal(err)
		}
		if putErr == nil && !slices.Equal(keys, []string{key}) || putErr != nil && keys != nil {
			t.Errorf("put returned %v, then List has %q", putErr, keys)
		}
		if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
			t.Errorf("outside: %v, %v", entries, err)
		}
		if now, err := os.ReadFile(filepath.Join(dir, "secret")); err != nil || string(now) != string(secret) {
			t.Error("the secret changed")
		}
	})
}

// FuzzHandler sends any method, path and query. Nothing may be served or stored without a
// signature, and no answer may be an internal error.
func FuzzHandler(f *testing.F) {
	dir := f.TempDir()
	objects := open(f, dir, time.Now)
	if err := objects.Put(context.Background(), "a", strings.NewReader("secret text"), -1); err != nil {
		f.Fatal(err)
	}
	f.Add("GET", "/objects/a", "expires=99999999999&signature=x", "")
	f.Add("PUT", "/objects/b", "size=1&type=&expires=99999999999&signature=", "x")
	f.Add("HEAD", "/objects/../a", "%zz", "")
	f.Add("GET", "/objects/%2e%2e/secret", "", "")
	f.Fuzz(func(t *testing.T, method, path, query, body string) {
		r, err := http.NewRequest(method, "http://host/", strings.NewReader(body))
		if err != nil {
			t.Skipf("no HTTP request has the method %q", method)
		}
		r.URL.Path, r.URL.RawQuery = path, query
		w := httptest.NewRecorder()
		objects.Handler().ServeHTTP(w, r)
		if w.Code < 300 || w.Code >= 500 || strings.Contains(w.Body.String(), "secret text") {
			t.Errorf("got %d %q", w.Code, w.Body)
		}
		if _, err := os.Stat(filepath.Join(dir, "files", "b")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("an unsigned put was stored (%v)", err)
		}
	})
}
