package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"lipsync/internal/domain/failure"
)

// TestFailingDisk makes each write to the database's files fail. Every caller gets a fault of the
// machine, and the store works again once the disk does.
func TestFailingDisk(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "lipsync.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Keys.Create(t.Context(), key(0)); err != nil {
		t.Fatal(err)
	}
	mend := breakWrites(t)
	var all sync.WaitGroup
	for n := range 20 { // some of them share a transaction
		all.Go(func() {
			if err := s.Keys.Create(t.Context(), key(n+1)); failure.Of(err).Code != failure.HostFailing || !failure.DiskFails(err) {
				t.Errorf("a write: got %v, want a fault of the disk", err)
			}
		})
	}
	all.Wait()
	if keys, err := s.Keys.List(t.Context(), ""); err != nil || len(keys) != 1 {
		t.Errorf("a read: got %d keys (%v), want 1", len(keys), err)
	}
	mend()
	if err := s.Keys.Create(t.Context(), key(50)); err != nil {
		t.Errorf("after it: %v", err)
	}
}

// breakWrites makes every write of this process to a file fail, with the system's error for a file
// that is too large. The function that it returns ends that.
func breakWrites(t *testing.T) (mend func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 0, Max: was.Max}); err != nil {
		t.Skip("no limit can be set: ", err)
	}
	mend = sync.OnceFunc(func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
			t.Error(err)
		}
		signal.Reset(syscall.SIGXFSZ)
	})
	t.Cleanup(mend)
	return mend
}

// TestOneWriteFails makes the disk fail in the middle of one of two writes of a transaction. SQLite
// then undoes both.
func TestOneWriteFails(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "lipsync.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	undone := errors.New("undone")
	change := func(err error) write {
		return write{func(context.Context, *sql.Tx) error { return err }, make(chan error, 1)}
	}
	folder, err := sql.Open("sqlite", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	unreadable := folder.PingContext(t.Context())
	good, refused, bad := change(nil), change(undone), change(unreadable)
	s.commit(t.Context(), []write{good, refused, bad})
	for name, w := range map[string]write{"good": good, "bad": bad} {
		if err := <-w.done; !failure.DiskFails(err) {
			t.Errorf("%s: got %v, want a fault of the disk", name, err)
		}
	}
	if err := <-refused.done; !errors.Is(err, undone) || failure.DiskFails(err) {
		t.Errorf("refused: got %v, want its own error", err)
	}
}
