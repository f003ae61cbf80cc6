package main

import (
	"context"
	"errors"
	"flag"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var kills = flag.Int("kills", 3, "how often TestCrash kills the server")

// TestCrash kills a server again and again at random moments while jobs run.
// After the last start all of them complete, none twice, and the data folder
// holds no file that no record names.
func TestCrash(t *testing.T) {
	const jobs = 20
	data := t.TempDir()
	arguments := []string{"--workers", "2"}
	s := startServer(t, data, arguments...)
	c := client{s.url, newKey(t, data)}
	var ids []string
	for range jobs {
		id, err := c.generate(t.Context(), fixtures.video, fixtures.speech)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	completed := map[string]int{}
	count := func() {
		for _, id := range ids {
			completed[id] += len(s.log.with("msg=completed request=" + id))
		}
	}
	for range *kills {
		time.Sleep(rand.N(3 * time.Second))
		s.kill()
		count()
		s = startServer(t, data, arguments...)
	}
	c.base = s.url
	for _, id := range ids {
		if r := c.wait(t, id); r.Status != "completed" {
			t.Errorf("got %+v, want it completed", r)
		}
	}
	if err := s.stop(t); err != nil {
		t.Error(err)
	}
	count()
	for id, n := range completed {
		if n > 1 {
			t.Errorf("request %s completed %d times", id, n)
		}
	}
	wantOnlyNamedFiles(t, data, jobs)
}

// TestLeftovers starts a server on what a killed one leaves behind in the midst
// of a download, a rendering and the storing of an upload and an output.
func TestLeftovers(t *testing.T) {
	data := t.TempDir()
	startServer(t, data).kill()
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
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("x"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	startServer(t, data)
	wantOnlyNamedFiles(t, data, 0)
}

// wantOnlyNamedFiles checks that the folder's files are those that the service
// always has, and one output for each of the requests.
func wantOnlyNamedFiles(t *testing.T, data string, outputs int) {
	t.Helper()
	named := map[string]bool{
		"lipsync.db": true, "lipsync.db-wal": true, "lipsync.db-shm": true, "lipsync.db-reserve": true, "lock": true, "objects/secret": true,
		"dashboard/secret": true, "dashboard/address": true,
	}
	folder, err := openData(context.Background(), data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer folder.close()
	list, total, err := folder.store.List(t.Context(), "default", "", 0, outputs+1)
	if err != nil || total != int64(outputs) {
		t.Fatalf("got %d requests (error %v), want %d", total, err, outputs)
	}
	for _, r := range list {
		named["objects/files/"+r.Output] = true
	}
	found := 0
	err = filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, data+string(filepath.Separator)))
		if !named[name] && !strings.HasPrefix(name, "dashboard/links/") { // which end by themselves
			t.Errorf("no record names %s", name)
		}
		if strings.HasPrefix(name, "objects/files/") {
			found++
		}
		return nil
	})
	if err != nil || found != outputs {
		t.Errorf("got %d outputs (error %v), want %d", found, err, outputs)
	}
}
