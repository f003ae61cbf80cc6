package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"lipsync/internal/domain/lipsync"
)

// BenchmarkNote measures what noting a call adds to it, while a call is noted each time.
func BenchmarkNote(b *testing.B) {
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "db"))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for b.Loop() {
		_ = s.Calls.Note(b.Context(), "a", lipsync.Call{At: time.Now(), ID: "00000000-0000-4000-8000-000000000003", Method: "POST", Route: "/api/v1/lipsync/generate", Status: 200, KeyID: "k"})
	}
}

// TestCloseWritesCalls closes the store before calls are written by themselves.
func TestCloseWritesCalls(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	for n := range 2 {
		s, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		all, err := s.Calls.List(t.Context(), "a", time.Now())
		if err != nil || len(all) != n {
			t.Errorf("opened %d times before: got %+v, %v", n, all, err)
		}
		if err := s.Calls.Note(t.Context(), "a", lipsync.Call{At: time.Now(), ID: "x"}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
