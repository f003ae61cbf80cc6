package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lipsync/internal/domain/service"
)

// TestLeftovers starts a server with the files that a server leaves if it is killed during a download,
// a rendering, or the storing of an upload or an output. The new server removes them.
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

// wantOnlyNamedFiles checks that the folder has no other files than those that the service always
// has, one output for each request, and posters. A request completes without a poster if the
// poster can't be made or stored.
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
	requests, found := countRequests(t, serviceOn(t, folder)), 0
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
	if err != nil || requests != outputs || found != outputs {
		t.Errorf("got %d requests and %d outputs (error %v), want %d of both", requests, found, err, outputs)
	}
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
