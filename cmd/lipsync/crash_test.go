package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lipsync/cmd/lipsync/internal/datafolder"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
	"lipsync/internal/store/sqlite"
)

// TestLeftovers starts a server with the files that a server leaves if it is killed during a download,
// a rendering, or the storing of an upload or an output. The new server removes them: media without a record only if they are old.
func TestLeftovers(t *testing.T) {
	data := t.TempDir()
	startServer(t, data).kill()
	old := time.Now().Add(-lipsync.OrphanAge)
	for _, name := range []string{
		"scratch/request-1/video",
		"scratch/request-2/output.mp4.part",
		"scratch/request-2/render-3/speech.pcm",
		"objects/partial/half",
		"objects/files/inputs/no-request/video",
		"objects/files/uploads/no-upload",
		"objects/files/outputs/no-request/lease.mp4",
	} {
		path := filepath.Join(data, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("x"), 0o600), os.Chtimes(path, old, old)); err != nil {
			t.Fatal(err)
		}
	}
	young := filepath.Join(data, "objects", "files", "uploads", "young")
	if err := os.WriteFile(young, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServer(t, data)
	s.waitLog(t, "msg=tidy checked=4 deleted_final_or_expired=0 deleted_without_record=3 deleted_findings=0", time.Minute)
	if err := os.Remove(young); err != nil {
		t.Errorf("a file that its client may still send was deleted (%v)", err)
	}
	wantOnlyNamedFiles(t, data, 0)
}

// TestForeignDatabase starts servers on media whose database is missing, older than they are, or another one. They delete nothing and end.
func TestForeignDatabase(t *testing.T) {
	data := t.TempDir()
	path := func(name string) string { return filepath.Join(data, filepath.FromSlash(name)) }
	startServer(t, data).stopped(t)
	older, err := os.ReadFile(path("lipsync.db"))
	if err != nil {
		t.Fatal(err)
	}
	stamp := func() string {
		text, err := os.ReadFile(path("objects/database"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	former := stamp()
	s := startServer(t, data)
	for range 600 { // its first tidy ends with a new stamp
		if stamp() != former {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.stopped(t)
	output, old := path("objects/files/outputs/9/1.mp4"), time.Now().AddDate(0, 0, -9)
	if err := errors.Join(os.MkdirAll(filepath.Dir(output), 0o700), os.WriteFile(output, []byte("x"), 0o600), os.Chtimes(output, old, old)); err != nil {
		t.Fatal(err)
	}
	refuses := func(what, want string) {
		t.Helper()
		_, said, status := command(t, serveArgs(data, nil)...)
		if status != failed || !strings.Contains(said, want) {
			t.Errorf("%s: got status %d and %q, want a refusal with %q", what, status, said, want)
		}
		if _, err := os.Stat(output); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	newest := path("newest.db")
	if err := os.Rename(path("lipsync.db"), newest); err != nil {
		t.Fatal(err)
	}
	refuses("missing", "is new, but there are media in "+path("objects"))
	if err := os.WriteFile(path("lipsync.db"), older, 0o600); err != nil {
		t.Fatal(err)
	}
	refuses("older", "belong to another database than "+path("lipsync.db"))
	if err := errors.Join(os.Rename(newest, path("lipsync.db")), os.Chtimes(output, time.Now(), time.Now())); err != nil {
		t.Fatal(err)
	}
	startServer(t, data).stopped(t)
	if err := errors.Join(os.WriteFile(path("lipsync.db"), older, 0o600), os.Remove(path("objects/database"))); err != nil {
		t.Fatal(err)
	}
	startServer(t, data).stopped(t) // as the refusal says
	if err := os.Remove(output); err != nil {
		t.Error(err)
	}
}

// TestDoctor checks a good folder, one whose clock is ahead and whose media have another database, and none.
func TestDoctor(t *testing.T) {
	data := t.TempDir()
	startServer(t, data).stopped(t)
	check := func(want int, lines ...string) {
		t.Helper()
		out, said, status := command(t, "doctor", "--data", data, "--disk-reserve", "0")
		for _, line := range lines {
			if status != want || !strings.Contains(out, line) {
				t.Errorf("got status %d, %q and %q, want %d with %q", status, out, said, want, line)
			}
		}
	}
	check(ok, "folder    "+data, "database  whole", "media     belong to the database", "clock     fits the database", "disk      can be written, and has room", "engines   [warp", "ffmpeg    works, in the sandbox of ")
	folder, err := datafolder.Open(t.Context(), data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(folder.Store.PutStamps(t.Context(), sqlite.Stamps{Stamp: "another", At: time.Now().AddDate(0, 0, -40)}), folder.Close()); err != nil {
		t.Fatal(err)
	}
	check(failed, "media     WRONG: the media in ", "clock     WRONG: 960h0m0s ahead of the last time in the database")
	data = filepath.Join(data, "none")
	check(failed, "folder    WRONG: the folder "+data+" has no data of the service")
}

// TestClockAhead starts a server with a clock that is far ahead of the last time in the database. It deletes nothing by its age.
func TestClockAhead(t *testing.T) {
	data := t.TempDir()
	startServer(t, data).stopped(t)
	folder, err := datafolder.Open(t.Context(), data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	stamps, err := folder.Store.Stamps(t.Context())
	then := time.Now().AddDate(0, 0, -40)
	stamps.At = then
	output := filepath.Join(data, "objects", "files", "outputs", "9", "1.mp4")
	err = errors.Join(err, folder.Store.PutStamps(t.Context(), stamps), folder.Close(),
		os.MkdirAll(filepath.Dir(output), 0o700), os.WriteFile(output, []byte("x"), 0o600), os.Chtimes(output, then, then))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a restart doesn't end the doubt
		s := startServer(t, data)
		s.waitLog(t, "the clock is far ahead of the last time in the database", time.Minute)
		s.waitLog(t, "tidy: nothing is deleted while the clock is doubted", time.Minute)
		s.stopped(t)
	}
	if _, err := os.Stat(output); err != nil {
		t.Error(err)
	}
}

// TestListensFirst starts a server beside 1000 files, at which it looks for more than a second. It answers before.
func TestListensFirst(t *testing.T) {
	data := t.TempDir()
	startServer(t, data).stopped(t)
	outputs := filepath.Join(data, "objects", "files", "outputs")
	for n := range 1000 {
		dir := filepath.Join(outputs, fmt.Sprint(n))
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "1.mp4"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	s := startServer(t, data)
	s.waitLog(t, "msg=tidy checked=1000", time.Minute)
	lines := s.log.with("")
	if tidied := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "msg=tidy") }); tidied < slices.IndexFunc(lines, listens.MatchString) {
		t.Errorf("it listens after it has tidied: %q", lines)
	}
	if left, err := os.ReadDir(outputs); err != nil || len(left) != 1000 {
		t.Errorf("%d of 1000 files are left (%v), though they are new", len(left), err)
	}
}

// tidyAll deletes what no record names in a data folder that no server uses, as a server does once it is old enough.
func tidyAll(t *testing.T, data string) {
	t.Helper()
	folder, err := datafolder.Open(t.Context(), data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(serviceOn(t, folder).Tidy(t.Context(), 0), folder.Close()); err != nil {
		t.Fatal(err)
	}
}

// wantOnlyNamedFiles checks what wantNamedFiles does, and that the folder has one output for each request, and else only posters. A request
// completes without a poster if the poster can't be made or stored.
func wantOnlyNamedFiles(t *testing.T, data string, outputs int) {
	t.Helper()
	if requests, found := wantNamedFiles(t, data); requests != outputs || found != outputs {
		t.Errorf("got %d requests and %d outputs, want %d of both", requests, found, outputs)
	}
}

// wantNamedFiles checks that the folder has no other files than those that the service always has or that a record names. It returns the number of
// requests, and of objects except posters.
func wantNamedFiles(t *testing.T, data string) (requests, found int) {
	t.Helper()
	named := map[string]bool{
		"lipsync.db": true, "lipsync.db-wal": true, "lipsync.db-shm": true, "lipsync.db-reserve": true, "lock": true, "objects/secret": true, "objects/database": true,
		"dashboard/secret": true, "dashboard/address": true,
	}
	folder, err := datafolder.Open(context.Background(), data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	err = filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, data+string(filepath.Separator)))
		if key, ok := strings.CutPrefix(name, "objects/files/"); ok {
			if strings.HasPrefix(key, "findings/") { // they have no record, and end by themselves
				return nil
			}
			if !strings.HasSuffix(key, ".jpg") {
				found++
			}
			named[name], err = serviceOn(t, folder).Needs(t.Context(), key)
		}
		if !named[name] && !strings.HasPrefix(name, "dashboard/links/") { // links end by themselves
			t.Errorf("no record names %s", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return countRequests(t, serviceOn(t, folder)), found
}

// countRequests counts the requests of all accounts that have a key.
func countRequests(t *testing.T, service *service.Service) (n int) {
	t.Helper()
	keys, err := service.Store.Keys.List(t.Context(), "")
	counted := make(map[string]bool)
	for _, k := range keys {
		if counted[k.Account] {
			continue
		}
		counted[k.Account] = true
		_, total, listed := service.Store.Requests.List(t.Context(), k.Account, "", 0, 1)
		err = errors.Join(err, listed)
		n += int(total)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}
