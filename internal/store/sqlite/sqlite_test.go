package sqlite_test

import (
	"bufio"
	"database/sql"
	"fmt"

	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/sqlite"
	"lipsync/internal/test/lipsynctest"
)

func open(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func TestStore(t *testing.T) {
	lipsynctest.TestStore(t, func(t *testing.T) lipsync.Store {
		return open(t, filepath.Join(t.TempDir(), "odd ?%#& name.db")).Store
	})
}

// TestReopen checks that a reopened store has its records, and that a file of an unknown version is
// refused.
func TestReopen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lipsync.db")
	k := lipsync.Key{ID: "k", Account: "a", Name: "n", CreatedAt: time.Unix(1_800_000_000, 0).UTC()}
	first, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Keys.Create(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := first.Keys.Touch(t.Context(), "k", k.CreatedAt); err == nil {
		t.Error("a closed store took a write")
	}
	got, err := open(t, path).Keys.ByHash(t.Context(), k.Hash)
	if err != nil || got != k {
		t.Errorf("got %v (%v), want %v", got, err, k)
	}
}

// TestPrivate checks the modes of an open store's files.
func TestPrivate(t *testing.T) {
	dir := t.TempDir()
	open(t, filepath.Join(dir, "lipsync.db"))
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 4 { // the file and those with -wal, -shm and -reserve
		t.Fatalf("got %v (%v), want 4 files", entries, err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("%s: got mode %v, want 0600", e.Name(), got)
		}
	}
}

// TestTwoProcesses opens a second store on the same file, as the keys command does.
func TestTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lipsync.db")
	server, command := open(t, path), open(t, path)
	k := lipsync.Key{ID: "k", Account: "a", Name: "n"}
	if err := command.Keys.Create(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for i, store := range []*sqlite.Store{server, command} {
		writers.Go(func() {
			for second := range 50 {
				if err := store.Keys.Touch(t.Context(), "k", time.Unix(int64(2*second+i), 0)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	if err := command.Keys.Revoke(t.Context(), "", "k", time.Unix(200, 0)); err != nil {
		t.Fatal(err)
	}
	got, err := server.Keys.ByHash(t.Context(), k.Hash)
	if err != nil || got.RevokedAt.Unix() != 200 || got.LastUsed.Unix() != 99 {
		t.Errorf("got %v (%v), want last used at 99, revoked at 200", got, err)
	}
}

func TestNewerFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lipsync.db")
	open(t, path)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	if store, err := sqlite.Open(t.Context(), path); err == nil {
		t.Error("a newer file was opened", store.Close())
	}
}

// TestKill kills a process while it creates requests, and checks that the file has every request
// whose Create returned.
func TestKill(t *testing.T) {
	if path := os.Getenv("SQLITE_TEST_KILL"); path != "" {
		createUntilKilled(t, open(t, path))
	}
	path := filepath.Join(t.TempDir(), "lipsync.db")
	child := exec.Command(os.Args[0], "-test.run=^TestKill$")
	child.Env = append(os.Environ(), "SQLITE_TEST_KILL="+path)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var acknowledged []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		acknowledged = append(acknowledged, lines.Text())
		if len(acknowledged) == 100 {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = child.Wait() // it was killed
	store := open(t, path)
	if len(acknowledged) < 100 {
		t.Fatalf("got %d creates, want 100 and more: %v", len(acknowledged), acknowledged)
	}
	for _, id := range acknowledged {
		if _, err := store.Requests.ByID(t.Context(), id); err != nil {
			t.Errorf("request %s: %v", id, err)
		}
	}
	_, total, err := store.Requests.List(t.Context(), "a", "", 0, 1)
	if err != nil || total < int64(len(acknowledged)) {
		t.Errorf("got a total of %d (%v), want at least %d", total, err, len(acknowledged))
	}
}

// createUntilKilled creates requests and prints the id of each.
func createUntilKilled(t *testing.T, store *sqlite.Store) {
	if err := store.Keys.Create(t.Context(), lipsync.Key{ID: "k", Account: "a", Name: "n"}); err != nil {
		t.Fatal(err)
	}
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for {
				id := uuid.NewString()
				r := lipsync.Request{ID: id, Account: "a", KeyID: "k", Status: lipsync.Queued, CreatedAt: time.Now()}
				if _, _, err := store.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{}); err != nil {
					t.Error(err)
					return
				}
				fmt.Println(id)
			}
		})
	}
	clients.Wait()
}
