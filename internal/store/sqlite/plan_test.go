package sqlite

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPlans checks SQLite's plans of queries whose time must not grow with the number of records.
// They use an index for each table and sort no records.
func TestPlans(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "lipsync.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, c := range []struct {
		name, query string
		args        []any
		want        []string // steps that search a table of records, or sort
	}{
		{
			"requests of a state and a reference id", "SELECT " + requestColumns + " FROM requests " + withReferenceAndState + inStatus,
			[]any{"a", "", "x", "failed", 20, 40},
			[]string{"SEARCH requests USING INDEX requests_by_reference_state (account=? AND kind=? AND reference_id=? AND <expr>=?)"},
		}, {
			"requests of a state from a place on", walk(withState, "seq"), []any{"a", "", "failed", 40, 20},
			[]string{"SEARCH requests USING COVERING INDEX requests_by_state (account=? AND kind=? AND <expr>=? AND seq<?)"},
		}, {
			"requests of a state and a reference id from a place on", walk(withReferenceAndState, "seq"), []any{"a", "", "x", "failed", 40, 20},
			[]string{"SEARCH requests USING COVERING INDEX requests_by_reference_state (account=? AND kind=? AND reference_id=? AND <expr>=? AND seq<?)"},
		}, {
			"accounts of which one is next", standing, []any{1, 1, false},
			[]string{
				"SCAN requests USING INDEX requests_open_of_account",                          // only its first row
				"SEARCH requests USING INDEX requests_open_of_account ((account,kind)>(?,?))", // the next account or kind, each time
				"SEARCH requests USING INDEX requests_open_of_account (account=? AND kind=?)",
				"SEARCH requests USING INDEX requests_open_of_account (account=? AND kind=?)",
			},
		}, {
			"held requests", held, []any{1},
			[]string{"SCAN requests USING COVERING INDEX requests_held_of_account"},
		}, {
			"open requests of an account", openOfAccount, []any{"a", "", 10},
			[]string{"SEARCH requests USING INDEX requests_open_of_account (account=? AND kind=?)"},
		}, {
			"postponed requests", "SELECT " + requestColumns + " FROM requests " + postponed, []any{1, 10},
			[]string{"SEARCH requests USING INDEX requests_put_off (lease_until>?)"},
		}, {
			"uploads that expired", "SELECT " + uploadColumns + " FROM uploads " + expired, []any{3, 2, "u", 10},
			[]string{"SEARCH uploads USING INDEX uploads_by_expiry ((expires_at,id)>(?,?) AND expires_at<?)"},
		}, {
			"undelivered events of a webhook", "SELECT " + deliveryColumns + " FROM deliveries " + undelivered, []any{"w", 10},
			[]string{"SEARCH deliveries USING INDEX deliveries_failed (webhook=?)"},
		}, {
			"webhooks with due deliveries", withDue, []any{1},
			[]string{
				"SCAN deliveries USING INDEX deliveries_due", // only its first row
				"SEARCH d USING INDEX deliveries_due (webhook>?)",
				"SEARCH d EXISTS USING INDEX deliveries_due (webhook=? AND due<?)",
			},
		},
	} {
		rows, err := s.read.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+c.query, c.args...)
		steps, err := collect(rows, err, func(columns row) (step string, err error) {
			var id, parent, unused int
			err = columns.Scan(&id, &parent, &unused, &step)
			return step, err
		})
		got := slices.DeleteFunc(steps, func(step string) bool {
			return !strings.Contains(step, " requests") && !strings.Contains(step, " uploads") && !strings.Contains(step, "deliveries") && !strings.Contains(step, "B-TREE")
		})
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: got\n%s\n(%v), want\n%s", c.name, strings.Join(got, "\n"), err, strings.Join(c.want, "\n"))
		}
	}
}
