package main

import (
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lipsync/cmd/lipsync/internal/datafolder"
	"lipsync/internal/test/lipsynctest"
)

var keep = flag.Bool("keep", false, "TestDataOfVersions keeps a data folder of this version in testdata, if there is none")

// TestDataOfVersions opens, migrates and serves the data folders that each version of the
// program made.
func TestDataOfVersions(t *testing.T) {
	current := makeVersion(t)
	made, err := filepath.Glob("testdata/data-*.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(made, current) {
		t.Errorf("%s is missing: make it with go test ./cmd/lipsync -run TestDataOfVersions -keep", current)
	}
	for _, file := range made {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".tar.gz"), func(t *testing.T) {
			goOn(t, unpack(t, file))
			servePast(t, unpack(t, file))
		})
	}
}

// makeVersion makes a folder by this version, packs it if it is to be kept, and returns
// the name of its file.
func makeVersion(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	d, err := datafolder.Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	_, secret := d.SignIn.Secret()
	if err := errors.Join(secret, lipsynctest.NewPast(t, d.Store.Store, d.Objects).Live(t.Context()), d.Stamp(t.Context()), d.Close()); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "lipsync.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var version int
	if err := db.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		t.Fatal(err)
	}
	file := fmt.Sprintf("testdata/data-%d.tar.gz", version)
	if _, err := os.Stat(file); *keep && errors.Is(err, fs.ErrNotExist) {
		out, err := exec.Command("tar", "-czf", file, "-C", dir, "lipsync.db", "objects", "dashboard").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return file
}

func unpack(t *testing.T, file string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if out, err := exec.Command("tar", "-xzf", file, "-C", dir, "--no-same-owner").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// goOn opens and migrates the folder.
func goOn(t *testing.T, dir string) {
	d, err := datafolder.Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	lipsynctest.NewPast(t, d.Store.Store, d.Objects).GoOn(t)
}

// servePast starts a server on the folder.
func servePast(t *testing.T, dir string) {
	s := startServer(t, dir)
	c := testClient{s.url, lipsynctest.PastToken}
	var list struct {
		Pagination struct{ Total int }
	}
	if err := c.call(t.Context(), http.MethodGet, "/api/v1/lipsync/requests", "", nil, &list); err != nil || list.Pagination.Total != 4 {
		t.Errorf("got %+v (%v), want 4 requests", list, err)
	}
	if err := s.stop(t); err != nil {
		t.Error(err)
	}
}
