package sqlite_test

import (
	"path/filepath"
	"testing"

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
