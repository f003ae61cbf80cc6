package sqlite

import (
	"errors"
	"path/filepath"
	"testing"
)

// TestMigrate updates a file by two more steps than it has. If one of them fails, the file stays as it was, and an older program
// refuses the newer file.
func TestMigrate(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "lipsync.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	version := func() (n int) {
		t.Helper()
		if err := s.read.QueryRowContext(t.Context(), "PRAGMA user_version").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	first := len(steps())
	more := append(steps(), "ALTER TABLE keys ADD COLUMN x TEXT")
	if err := s.migrate(t.Context(), append(more, "a mistake")); err == nil || version() != first {
		t.Errorf("got %v and version %d, want an error and version %d", err, version(), first)
	}
	more = append(more, "UPDATE keys SET x = ''")
	for range 2 { // the second call finds nothing to do
		if err := s.migrate(t.Context(), more); err != nil || version() != first+2 {
			t.Errorf("got %v and version %d, want version %d", err, version(), first+2)
		}
	}
	if err := s.migrate(t.Context(), steps()); !errors.Is(err, errNewer) {
		t.Errorf("got %v, want %v", err, errNewer)
	}
}
