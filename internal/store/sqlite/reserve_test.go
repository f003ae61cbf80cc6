package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// TestReserve fills a database to its bound, which acts like a full disk. The write fails with a
// message for the client after the reserve was released. The store still reads, and it writes again
// once it has space.
func TestReserve(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lipsync.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for file, want := range map[string]int64{path + "-wal": logSize, path + "-reserve": reserveSize} {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Sys().(*syscall.Stat_t).Blocks * 512; got < want {
			t.Errorf("%s: got blocks of %d bytes, want %d set aside", file, got, want)
		}
	}
	bound := func(pages int) {
		t.Helper()
		err := s.update(t.Context(), "test", func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	bound(1)
	made := 0
	for err == nil && made < 10_000 {
		err = s.Keys.Create(t.Context(), key(made))
		made++
	}
	if failure.CodeOf(err) != failure.NoSpace {
		t.Errorf("after %d keys: got %v, want no space", made, err)
	}
	if _, err := os.Stat(path + "-reserve"); !os.IsNotExist(err) {
		t.Errorf("the reserve is still there (%v)", err)
	}
	keys, err := s.Keys.List(t.Context(), "")
	if err != nil || len(keys) != made-1 {
		t.Errorf("got %d keys (%v), want %d", len(keys), err, made-1)
	}
	bound(1 << 30)
	if err := s.Keys.Create(t.Context(), key(made)); err != nil {
		t.Error(err)
	}
}

func key(n int) lipsync.Key {
	k := lipsync.Key{ID: fmt.Sprint(n), Account: "a", CreatedAt: time.Unix(1, 0)}
	copy(k.Hash[:], k.ID)
	return k
}
