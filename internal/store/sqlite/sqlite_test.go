package sqlite_test

import (
	"bufio"
	"database/sql"
	"fmt"

	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// undo has statements that turn a file into the version before. The statement i is for version i+2.
var undo = []string{
	"ALTER TABLE requests DROP COLUMN engine",
	"ALTER TABLE requests DROP COLUMN stage; ALTER TABLE requests DROP COLUMN percent; ALTER TABLE requests DROP COLUMN ends",
	"DROP TRIGGER count_created; DROP TRIGGER count_final; DROP TABLE days; ALTER TABLE requests DROP COLUMN length",
	"DROP INDEX requests_by_status",
	"DROP INDEX requests_by_reference_status",
	`ALTER TABLE requests ADD COLUMN error TEXT NOT NULL DEFAULT '';
		UPDATE requests SET error = 'no face found in the video' WHERE failure = 'no_face';
		ALTER TABLE requests DROP COLUMN failure; ALTER TABLE requests DROP COLUMN failure_details;
		ALTER TABLE requests DROP COLUMN delays; ALTER TABLE requests DROP COLUMN delayed_since`,
	`DROP TRIGGER count_size; DROP TRIGGER count_upload; DROP TRIGGER count_upload_gone; DROP TABLE uploaded; DROP TABLE claimed;
	DROP INDEX requests_open_of_account; DROP INDEX requests_held_of_account; DROP INDEX keys_by_account;
	DROP INDEX uploads_by_expiry; CREATE INDEX uploads_by_expiry ON uploads (expires_at);
	ALTER TABLE requests DROP COLUMN size; ALTER TABLE days DROP COLUMN size`,
	`ALTER TABLE requests RENAME COLUMN unreachable_since TO delayed_since; ALTER TABLE requests DROP COLUMN missing_since;
		ALTER TABLE requests DROP COLUMN failing_since; ALTER TABLE requests DROP COLUMN fetching`,
	`DROP TRIGGER count_size_gone; ALTER TABLE requests DROP COLUMN media_deleted_at; ALTER TABLE uploads DROP COLUMN dropped`,
	"ALTER TABLE requests DROP COLUMN video_length; ALTER TABLE requests DROP COLUMN audio_length",
	"DROP INDEX requests_put_off",
	`ALTER TABLE requests DROP COLUMN video_name; ALTER TABLE requests DROP COLUMN audio_name; ALTER TABLE uploads DROP COLUMN name;
		ALTER TABLE keys DROP COLUMN start; DROP TRIGGER count_final;
		CREATE TRIGGER count_final AFTER UPDATE OF status ON requests WHEN new.status IN ('completed', 'failed') BEGIN
			UPDATE days SET failed = failed + (new.status = 'failed'), length = length + new.length
			WHERE account = new.account AND day = new.created_at / 86400000000;
		END`,
	"ALTER TABLE requests DROP COLUMN poster",
	`ALTER TABLE requests DROP COLUMN options; ALTER TABLE requests DROP COLUMN frames; ALTER TABLE requests DROP COLUMN synced_frames;
		ALTER TABLE requests DROP COLUMN warnings`,
	"ALTER TABLE requests DROP COLUMN tracks",
	"ALTER TABLE requests DROP COLUMN sync",
	"ALTER TABLE requests DROP COLUMN targets; DROP TABLE webhooks; DROP TABLE deliveries",
	"DROP TABLE speeds",
	"DROP TABLE batches",
	"ALTER TABLE requests DROP COLUMN video_sum",
}

// TestOlderFile migrates files of all versions. A request of a version with one engine has that
// engine. A request of a version without progress has none. Requests of versions without usage are
// counted, without the length of their outputs, which is unknown.
func TestOlderFile(t *testing.T) {
	for version := 1; version <= len(undo); version++ {
		t.Run(fmt.Sprint("version ", version), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lipsync.db")
			all := createAndEnd(t, open(t, path))
			makeOlder(t, path, version)
			day := lipsync.Day{Requests: 3, Failed: 1, Output: all[1].Length}
			if version < 4 {
				all[1].Length, day.Output = 0, 0
			}
			newer := open(t, path)
			for _, r := range all {
				if got, err := newer.Requests.ByID(t.Context(), r.ID); err != nil || got != r {
					t.Errorf("got %v (%v), want %v", got, err, r)
				}
				for _, reference := range []string{"", r.ReferenceID} {
					got, _, err := newer.Requests.ListByStatus(t.Context(), lipsync.StatusQuery{Account: "a", Status: r.Status, ReferenceID: reference, Limit: 10})
					if err != nil || !slices.Equal(got, []lipsync.Request{r}) {
						t.Errorf("%s with reference %q: got %v (%v), want %v", r.Status, reference, got, err, r)
					}
				}
			}
			upload := lipsync.Upload{ID: "new", Account: "a", Size: 500}
			if err := newer.Uploads.Create(t.Context(), upload, lipsync.Limits{Stored: 1000}); lipsync.CodeOf(err) != lipsync.StorageLimit {
				t.Errorf("got %v, want that the upload from before counts", err)
			}
			if got, err := newer.Requests.Usage(t.Context(), "a", time.Unix(0, 0), 1); err != nil || got[0] != day {
				t.Errorf("got %v (%v), want %v", got, err, day)
			}
		})
	}
}

// TestCanceledBefore migrates a file older than version 13, in which canceled requests count as
// failed.
func TestCanceledBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lipsync.db")
	store := open(t, path)
	waits := createAndEnd(t, store)[0]
	if _, err := store.Leases.Cancel(t.Context(), waits.ID, time.Unix(9, 0), lipsync.Failure{Code: lipsync.Canceled}); err != nil {
		t.Fatal(err)
	}
	makeOlder(t, path, 12)
	execute(t, path, "UPDATE days SET failed = failed + 1")
	if got, err := open(t, path).Requests.Usage(t.Context(), "a", time.Unix(0, 0), 1); err != nil || got[0].Requests != 3 || got[0].Failed != 1 {
		t.Errorf("got %+v (%v), want 3 requests of which one failed", got, err)
	}
}

// TestSentences migrates failures, which were stored as sentences before version 7.
func TestSentences(t *testing.T) {
	for sentence, want := range map[string]lipsync.Failure{
		"canceled by the client": {Code: lipsync.Canceled},
		"processing failed":      {Code: lipsync.InternalFault},
		"video is longer than 60 minutes: 90.5 minutes": {Code: lipsync.MediaLongerThan, Details: lipsync.Details{
			Kind: lipsync.Video, Limit: lipsync.Quantity{Seconds: 3600}, Value: lipsync.Quantity{Seconds: 5430},
		}},
		"a sentence of nobody": {Code: lipsync.UnknownFailure, Details: lipsync.Details{Verbatim: "a sentence of nobody"}},
	} {
		path := filepath.Join(t.TempDir(), "lipsync.db")
		failed := createAndEnd(t, open(t, path))[2]
		makeOlder(t, path, 6)
		execute(t, path, "UPDATE requests SET error = '"+sentence+"' WHERE status = 'failed'")
		got, err := open(t, path).Requests.ByID(t.Context(), failed.ID)
		if failed.Failure = want; err != nil || got != failed || got.Failure.Sentence() != sentence {
			t.Errorf("%s: got %v (%v), want %v", sentence, got, err, failed)
		}
	}
}

// createAndEnd creates and returns requests that are queued, completed and failed.
func createAndEnd(t *testing.T, store *sqlite.Store) (all []lipsync.Request) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	now := time.Unix(9, 0).UTC()
	must(store.Keys.Create(t.Context(), lipsync.Key{ID: "k", Account: "a"}))
	must(store.Uploads.Create(t.Context(), lipsync.Upload{ID: "u", Account: "a", Size: 600}, lipsync.Limits{}))
	for _, o := range []lipsync.Outcome{{}, {Output: "o", Length: time.Minute}, {Failure: lipsync.Failure{Code: lipsync.NoFace}}} {
		r := lipsync.Request{ID: uuid.NewString(), Account: "a", KeyID: "k", ReferenceID: "x", Status: lipsync.Queued, Engine: "warp"}
		_, _, err := store.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{})
		must(err)
		if o != (lipsync.Outcome{}) {
			_, err := store.Leases.Claim(t.Context(), r.ID, "w", now, time.Minute)
			must(err)
			must(store.Leases.Finish(t.Context(), r.ID, "w", now, o))
		}
		r, err = store.Requests.ByID(t.Context(), r.ID)
		must(err)
		all = append(all, r)
	}
	return all
}

// makeOlder turns a file back into the version.
func makeOlder(t *testing.T, path string, version int) {
	t.Helper()
	for _, change := range slices.Backward(undo[version-1:]) {
		execute(t, path, change)
	}
	execute(t, path, fmt.Sprint("PRAGMA user_version = ", version))
}

// execute runs a statement on a file without the store.
func execute(t *testing.T, path, change string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(change); err != nil {
		t.Fatal(err)
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
