package sqlite_test

import (
	"bufio"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"lipsync/internal/lipsync"
	"lipsync/internal/lipsynctest"
	"lipsync/internal/sqlite"
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
		return open(t, filepath.Join(t.TempDir(), "odd ?%#& name.db"))
	})
}

// TestReopen has what was written before, and refuses what it can't know.
func TestReopen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lipsync.db")
	k := lipsync.Key{ID: "k", Account: "a", Name: "n", CreatedAt: time.Unix(1_800_000_000, 0).UTC()}
	first, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.CreateKey(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := first.TouchKey(t.Context(), "k", k.CreatedAt); err == nil {
		t.Error("a closed store took a write")
	}
	got, err := open(t, path).KeyByHash(t.Context(), k.Hash)
	if err != nil || got != k {
		t.Errorf("got %v (%v), want %v", got, err, k)
	}
}

// TestPrivate looks at the files of a store that is open.
func TestPrivate(t *testing.T) {
	dir := t.TempDir()
	open(t, filepath.Join(dir, "lipsync.db"))
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 { // with -wal and -shm
		t.Fatalf("got %v (%v), want 3 files", entries, err)
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

// TestTwoProcesses has a second store on the file, as the keys command has.
func TestTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lipsync.db")
	server, command := open(t, path), open(t, path)
	k := lipsync.Key{ID: "k", Account: "a", Name: "n"}
	if err := command.CreateKey(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for i, store := range []*sqlite.Store{server, command} {
		writers.Go(func() {
			for second := range 50 {
				if err := store.TouchKey(t.Context(), "k", time.Unix(int64(2*second+i), 0)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	if err := command.RevokeKey(t.Context(), "", "k", time.Unix(200, 0)); err != nil {
		t.Fatal(err)
	}
	got, err := server.KeyByHash(t.Context(), k.Hash)
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

// TestOlderFile: a request of a file from before there was a choice of engines
// has the one that there was, one from before there was progress has none, and one
// from before there was usage is counted.
func TestOlderFile(t *testing.T) {
	for version, added := range map[int]string{
		1: "engine stage percent ends length",
		2: "stage percent ends length",
		3: "length",
	} {
		path := filepath.Join(t.TempDir(), "lipsync.db")
		store := open(t, path)
		if err := store.CreateKey(t.Context(), lipsync.Key{ID: "k", Account: "a"}); err != nil {
			t.Fatal(err)
		}
		r := lipsync.Request{ID: "r", Account: "a", KeyID: "k", Status: lipsync.Queued, Engine: "warp"}
		r, _, err := store.Create(t.Context(), r, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		makeOlder(t, path, version, added)
		newer := open(t, path)
		if got, err := newer.Get(t.Context(), "r"); err != nil || got != r {
			t.Errorf("version %d: got %v (%v), want %v", version, got, err, r)
		}
		if got, err := newer.Usage(t.Context(), "a", time.Unix(0, 0), 1); err != nil || got[0].Requests != 1 {
			t.Errorf("version %d: got %v (%v), want a day with one request", version, got, err)
		}
	}
}

// makeOlder brings a file back to the version, before columns were added.
func makeOlder(t *testing.T, path string, version int, added string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("DROP INDEX requests_by_status; DROP TRIGGER count_created; DROP TRIGGER count_final; DROP TABLE days"); err != nil {
		t.Fatal(err)
	}
	for column := range strings.FieldsSeq(added) {
		if _, err := db.Exec("ALTER TABLE requests DROP COLUMN " + column); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec(fmt.Sprint("PRAGMA user_version = ", version)); err != nil {
		t.Fatal(err)
	}
}

// TestKill kills a process in the middle of its creates, and holds the file to
// every one that was acknowledged.
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
		if _, err := store.Get(t.Context(), id); err != nil {
			t.Errorf("request %s: %v", id, err)
		}
	}
	_, total, err := store.List(t.Context(), "a", "", 0, 1)
	if err != nil || total < int64(len(acknowledged)) {
		t.Errorf("got a total of %d (%v), want at least %d", total, err, len(acknowledged))
	}
}

// createUntilKilled prints the id of each request it created.
func createUntilKilled(t *testing.T, store *sqlite.Store) {
	if err := store.CreateKey(t.Context(), lipsync.Key{ID: "k", Account: "a", Name: "n"}); err != nil {
		t.Fatal(err)
	}
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for {
				id := uuid.NewString()
				r := lipsync.Request{ID: id, Account: "a", KeyID: "k", Status: lipsync.Queued, CreatedAt: time.Now()}
				if _, _, err := store.Create(t.Context(), r, nil, nil); err != nil {
					t.Error(err)
					return
				}
				fmt.Println(id)
			}
		})
	}
	clients.Wait()
}
