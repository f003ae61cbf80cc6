package sqlite

import (
	"path/filepath"
	"testing"
)

// TestByStatusReadsItsPage asks SQLite how it finds the requests of a status and a
// reference id: by one index to its end, and with nothing to sort.
func TestByStatusReadsItsPage(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "lipsync.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rows, err := s.read.QueryContext(t.Context(), "EXPLAIN QUERY PLAN SELECT "+requestColumns+" FROM requests "+withReferenceAndStatus,
		"a", "x", "failed", 100, 20)
	steps, err := collect(rows, err, func(columns row) (step string, err error) {
		var id, parent, unused int
		err = columns.Scan(&id, &parent, &unused, &step)
		return step, err
	})
	const want = "SEARCH requests USING INDEX requests_by_reference_status (account=? AND reference_id=? AND status=? AND seq<?)"
	if err != nil || len(steps) != 1 || steps[0] != want {
		t.Errorf("got %q (%v), want %q", steps, err, want)
	}
}
