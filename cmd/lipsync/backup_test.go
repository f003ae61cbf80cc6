package main

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lipsync/cmd/lipsync/internal/datafolder"
	"lipsync/internal/domain/base"
	"lipsync/internal/domain/batches"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
	"lipsync/internal/domain/service"
	"lipsync/internal/test/lipsynctest"
	"lipsync/internal/work/local"
)

// TestBackup backs up a server's data while requests wait, and restores them. The keys, links and
// outputs are as before, and the waiting requests go on.
func TestBackup(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	s := startServer(t, data, "--workers", "1")
	c := testClient{s.url, newKey(t, data)}
	var ids []string
	for range 4 {
		id, err := c.generate(t.Context(), fixtures.video, fixtures.speech)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
		if len(ids) == 1 {
			c.wait(t, id)
		}
	}
	done, err := c.request(t.Context(), ids[0])
	if err != nil {
		t.Fatal(err)
	}
	output := get(t, done.OutputURL)
	file := filepath.Join(dir, "backup.tar")
	if _, said, status := command(t, "backup", "--data", data, file); status != ok || said != "" {
		t.Fatalf("backup: status %d: %s", status, said)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v (%v), want mode 0600", info.Mode(), err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("got %v (%v) beside the backup, want nothing", left, err)
	}
	for _, id := range ids[1:] {
		c.wait(t, id)
	}
	if err := s.stop(t); err != nil {
		t.Error(err)
	}
	wantOnlyNamedFiles(t, data, len(ids))

	restored := filepath.Join(dir, "restored")
	if _, said, status := command(t, "restore", "--data", restored, file); status != ok || said != "" {
		t.Fatalf("restore: status %d: %s", status, said)
	}
	s2 := startServer(t, restored)
	c.base = s2.url
	link := s2.url + strings.TrimPrefix(done.OutputURL, s.url)
	if got := get(t, link); got != output {
		t.Errorf("the output at its old link has %d bytes, want the same %d", len(got), len(output))
	}
	for _, id := range ids {
		if r := c.wait(t, id); r.Status != "completed" {
			t.Errorf("got %+v, want it completed", r)
		}
	}
	if err := s2.stop(t); err != nil {
		t.Error(err)
	}
	wantOnlyNamedFiles(t, restored, len(ids))
}

// serviceOn returns a service on the folder that does no work.
func serviceOn(t testing.TB, folder *datafolder.Folder) *service.Service {
	t.Helper()
	ports := folder.Ports()
	ports.Hints = local.New(0, slog.New(slog.DiscardHandler))
	return lipsynctest.NewService(t, base.Config{Engines: []string{"warp"}}, ports)
}

// TestBackupOfOldOutput backs up an output that is older than outputs are kept by default, and restores it.
func TestBackupOfOldOutput(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	keep := []string{"--keep-outputs", "2160h"}
	s := startServer(t, data, keep...)
	c := testClient{s.url, newKey(t, data)}
	id, err := c.generate(t.Context(), fixtures.video, fixtures.speech)
	if err != nil {
		t.Fatal(err)
	}
	c.wait(t, id)
	if err := s.stop(t); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(data, "lipsync.db"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "UPDATE requests SET finished_at = ?", time.Now().AddDate(0, 0, -40).UnixMicro())
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	file, restored := filepath.Join(dir, "backup.tar"), filepath.Join(dir, "restored")
	for _, args := range [][]string{{"backup", "--data", data, file}, {"restore", "--data", restored, file}} {
		if _, said, status := command(t, args...); status != ok {
			t.Fatalf("%s: status %d: %s", args[0], status, said)
		}
	}
	c.base = startServer(t, restored, keep...).url
	r, err := c.request(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if get(t, r.OutputURL) == "" {
		t.Error("the output is empty")
	}
}

// TestRestoreTrial restores data with work that waits, and starts a server on them. It sends nothing to a webhook and renders nothing, and the output of
// before can be read.
func TestRestoreTrial(t *testing.T) {
	calls := make(chan string, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { calls <- r.URL.Path }))
	defer receiver.Close()
	data, dir := t.TempDir(), t.TempDir()
	key := newKey(t, data)
	d, err := datafolder.Open(t.Context(), data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := serviceOn(t, d)
	c, err := s.Authenticate(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateWebhook(t.Context(), c, receiver.URL+"/hook", nil); err != nil {
		t.Fatal(err)
	}
	p := requests.Params{Video: requests.Source{URL: receiver.URL + "/video"}, Audios: []requests.Track{{Source: requests.Source{URL: receiver.URL + "/audio"}}}}
	var ids []string
	for range 2 {
		id, err := s.Generate(t.Context(), c, p)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	r, err := s.Claim(t.Context(), ids[0])
	if err == nil {
		err = s.Complete(t.Context(), r, strings.NewReader("output"), 6)
	}
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := s.CreateBatch(t.Context(), c, batches.Params{Lines: []batches.Variant{{Video: p.Video.URL, Audio: p.Audios[0].URL}}})
	if err := errors.Join(err, d.Close()); err != nil {
		t.Fatal(err)
	}
	file, restored := filepath.Join(dir, "backup.tar"), filepath.Join(dir, "restored")
	if _, said, status := command(t, "backup", "--data", data, file); status != ok {
		t.Fatalf("backup: status %d: %s", status, said)
	}
	out, said, status := command(t, "restore", "--trial", "--data", restored, file)
	if want := "for a trial: webhooks deleted: 1, requests canceled: 2, batches canceled: 1\n"; status != ok || !strings.HasSuffix(out, want) {
		t.Errorf("restore: status %d, %q, %s, want %q", status, out, said, want)
	}
	client := testClient{startServer(t, restored, "--allow-private-networks").url, key}
	for _, id := range []string{ids[1], b.RequestID(0)} {
		if got, err := client.request(t.Context(), id); err != nil || got.ErrorMessage != "canceled by the client" {
			t.Errorf("got %+v (%v), want it canceled", got, err)
		}
	}
	done, err := client.request(t.Context(), ids[0])
	if err != nil || get(t, done.OutputURL) != "output" {
		t.Errorf("got %+v (%v), want its output", done, err)
	}
	select {
	case path := <-calls:
		t.Errorf("got a call of %s", path)
	case <-time.After(2 * time.Second): // a server delivers events and begins requests within a second
	}
}

// get returns the content of an address.
func get(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: got %s (%v)", url, response.Status, err)
	}
	return string(body)
}

// TestBackupIsConsistent backs up again and again while requests come, complete and are
// canceled. Each backup has the media that its records name.
func TestBackupIsConsistent(t *testing.T) {
	data := t.TempDir()
	folder, err := datafolder.Open(t.Context(), data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	service := serviceOn(t, folder)
	service.Limits.Open = 1 << 20 // on a quick disk the clients make thousands of requests
	ctx, stop := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	defer func() { // also if the test ends early
		stop()
		clients.Wait()
	}()
	if err := comeAndGo(t.Context(), service); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		clients.Go(func() {
			for ctx.Err() == nil {
				if err := comeAndGo(context.WithoutCancel(ctx), service); err != nil {
					t.Error(err)
					return
				}
				time.Sleep(200 * time.Millisecond) // so that a backup doesn't become much longer than the one before
			}
		})
	}
	for range 5 {
		dir := t.TempDir()
		file, restored := filepath.Join(dir, "backup.tar"), filepath.Join(dir, "restored")
		var out, said strings.Builder
		quiet := streams{Out: &out, Err: &said}
		if err := (&backupCommand{dataFlag: dataFlag{data}, File: file}).Run(t.Context(), quiet); err != nil || said.Len() > 0 {
			t.Fatalf("%v: %s", err, said.String())
		}
		if err := (&restoreCommand{dataFlag: dataFlag{restored}, File: file}).Run(t.Context(), quiet); err != nil {
			t.Fatal(err)
		}
		t.Log(strings.TrimSpace(out.String()))
		wantMedia(t, restored)
	}
	stop()
	clients.Wait()
	if err := folder.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Join(data, "objects", "partial")); err != nil || len(left) > 0 {
		t.Errorf("got %v (%v) half-written, want nothing", left, err)
	}
}

// comeAndGo makes two requests, completes one and cancels one, and leaves another.
func comeAndGo(ctx context.Context, s *service.Service) error {
	c := lipsync.Caller{Account: "a"}
	for n := range 3 {
		id := s.NewRequestID()
		video, err := s.StoreMedia(ctx, id, failure.Video, strings.NewReader("video"))
		if err != nil {
			return err
		}
		audio, err := s.StoreMedia(ctx, id, failure.Audio, strings.NewReader("audio"))
		if err != nil {
			return err
		}
		if _, err := s.Generate(ctx, c, requests.Params{ID: id, Video: video, Audios: []requests.Track{{Source: audio}}}); err != nil {
			return err
		}
		switch n {
		case 0:
			_, err = s.Cancel(ctx, c, id)
		case 1:
			var r lipsync.Request
			if r, err = s.Claim(ctx, id); err == nil {
				err = s.Complete(ctx, r, strings.NewReader("output"), 6)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// wantMedia checks that each request's media are there: the inputs of one that is open,
// the output of one that completed.
func wantMedia(t *testing.T, data string) {
	t.Helper()
	folder, err := datafolder.Open(t.Context(), data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	list, total, err := folder.Store.Requests.List(t.Context(), "a", "", 0, math.MaxInt32)
	if err != nil || total == 0 {
		t.Fatalf("got %d requests (%v)", total, err)
	}
	for _, r := range list {
		keys := []string{r.Video.Object, r.Audio.Object}
		if r.Status.Final() {
			keys = []string{r.Output}
		}
		for _, key := range keys {
			if key == "" {
				continue
			}
			if _, err := folder.Objects.Size(t.Context(), key); err != nil {
				t.Errorf("%s request: %s: %v", r.Status, key, err)
			}
		}
	}
	if err := serviceOn(t, folder).Tidy(t.Context(), 0); err != nil {
		t.Error(err)
	}
}

// TestBackupWithoutRoom makes a backup that would leave less than the reserve, and restores one that is larger than the free space.
func TestBackupWithoutRoom(t *testing.T) {
	dir := t.TempDir()
	data, file, large := filepath.Join(dir, "data"), filepath.Join(dir, "backup.tar"), filepath.Join(dir, "large.tar")
	newKey(t, data)
	_, said, status := command(t, "backup", "--data", data, "--disk-reserve", "1000000GiB", file)
	if want := "the backup would leave less than 1000000 GiB free on the disk of the data folder"; status != failed || !strings.Contains(said, want) {
		t.Errorf("got status %d, %q, want %q", status, said, want)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("got %v (%v), want only the data folder", left, err)
	}
	if err := errors.Join(os.WriteFile(large, nil, 0o600), os.Truncate(large, 1<<42)); err != nil {
		t.Fatal(err)
	}
	fresh := filepath.Join(dir, "fresh")
	if _, said, status := command(t, "restore", "--data", fresh, large); status != failed || !strings.Contains(said, "the backup has 4398046511104 bytes, and only") {
		t.Errorf("got status %d, %q", status, said)
	}
}

// TestRestoreRefuses gives restore archives and folders that it must refuse. Then it must not
// change the data folder.
func TestRestoreRefuses(t *testing.T) {
	dir := t.TempDir()
	data, file := filepath.Join(dir, "data"), filepath.Join(dir, "backup.tar")
	newKey(t, data)
	if _, said, status := command(t, "backup", "--data", data, file); status != ok {
		t.Fatal(said)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	damaged := append([]byte(nil), whole...)
	damaged[len(damaged)/2] ^= 1
	for name, content := range map[string][]byte{"damaged": damaged, "short": whole[:len(whole)/2], "empty": nil} {
		path, fresh := filepath.Join(dir, name), filepath.Join(dir, "of "+name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, said, status := command(t, "restore", "--data", fresh, path)
		if status != failed || !strings.Contains(said, "the archive is") {
			t.Errorf("%s: got status %d, %q", name, status, said)
		}
		if left, err := os.ReadDir(fresh); err != nil || len(left) != 1 || left[0].Name() != "lock" {
			t.Errorf("%s: got %v (%v) in the data folder, want only the lock", name, left, err)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"restore", "--data", data, file}, data + " is not empty: it holds dashboard; nothing is overwritten"},
		{[]string{"backup", "--data", data, file}, file + " exists: it is not overwritten"},
		{[]string{"backup", "--data", filepath.Join(dir, "none"), filepath.Join(dir, "x")}, "has no data of the service; choose another with --data"},
		{[]string{"restore", "--data", filepath.Join(dir, "fresh"), filepath.Join(dir, "none")}, "no such file"},
	} {
		if _, said, status := command(t, c.args...); status != failed || !strings.Contains(said, c.want) {
			t.Errorf("%v: got status %d, %q, want %q", c.args, status, said, c.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("backup made a data folder (%v)", err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != string(whole) {
		t.Errorf("the backup has changed (%v)", err)
	}
}
