package datafolder

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPublishLog restores a database whose last changes are in its log.
func TestPublishLog(t *testing.T) {
	scratch, data := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(scratch, objectsFolder), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{DatabaseFile, DatabaseFile + "-wal"} {
		if err := os.WriteFile(filepath.Join(scratch, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := publish(scratch, data); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{DatabaseFile, DatabaseFile + "-wal"} {
		if got, err := os.ReadFile(filepath.Join(data, name)); string(got) != name {
			t.Errorf("%s: got %q (%v)", name, got, err)
		}
	}
}
