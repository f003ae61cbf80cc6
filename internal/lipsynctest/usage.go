package lipsynctest

import (
	"fmt"
	"testing"
	"time"

	"lipsync/internal/lipsync"
)

// testUsage makes requests on three days, the last of them at its very end, and
// ends them on others.
func testUsage(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	midnight := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	completed := lipsync.Outcome{Output: "o", Length: 90 * time.Second}
	failed := lipsync.Outcome{Failure: "no face found in the video"}
	for i, c := range []struct {
		created time.Time
		outcome lipsync.Outcome
	}{
		{midnight, completed}, {midnight, completed}, {midnight, failed}, {midnight, lipsync.Outcome{}},
		{midnight.AddDate(0, 0, 2).Add(-time.Microsecond), completed},
		{midnight.AddDate(0, 0, 2), lipsync.Outcome{}},
	} {
		r := newRequest("a", "")
		r.CreatedAt = c.created
		_, _, err := store.Create(t.Context(), r, nil, nil)
		must(t, err)
		if c.outcome != (lipsync.Outcome{}) {
			token, late := fmt.Sprint("w", i), c.created.AddDate(0, 0, 1)
			_, err := store.Claim(t.Context(), r.ID, token, late, time.Minute)
			must(t, err)
			must(t, store.Finish(t.Context(), r.ID, token, late, c.outcome))
			wantCode(t, store.Finish(t.Context(), r.ID, token, late, c.outcome), lipsync.Conflict)
		} else if i == 3 {
			_, err := store.Cancel(t.Context(), r.ID, c.created, lipsync.Canceled)
			must(t, err)
		}
	}
	got, err := store.Usage(t.Context(), "a", midnight.AddDate(0, 0, 2).Add(23*time.Hour), 4)
	must(t, err)
	for i, day := range []lipsync.Day{
		{}, {Requests: 4, Failed: 2, Output: 3 * time.Minute}, {Requests: 1, Output: 90 * time.Second}, {Requests: 1},
	} {
		want(t, fmt.Sprint("day ", i), got[i], day)
	}
	others, err := store.Usage(t.Context(), "b", midnight, 1)
	must(t, err)
	want(t, "another account's", others[0], lipsync.Day{})
}

// testConcurrentUsage ends requests of one day at the same time.
func testConcurrentUsage(t *testing.T, store lipsync.Store) {
	const n = 10
	addKey(t, store, "a", 0)
	var all []lipsync.Request
	for range n {
		r, err := claim(t, store, add(t, store, "").ID, "w", 0)
		must(t, err)
		all = append(all, r)
	}
	codes := together(n, func(i int) error {
		return store.Finish(t.Context(), all[i].ID, "w", at(1), lipsync.Outcome{Output: "o", Length: time.Second})
	})
	wantCodes(t, codes, map[lipsync.Code]int{"": n})
	got, err := store.Usage(t.Context(), "a", at(1), 1)
	must(t, err)
	want(t, "day", got[0], lipsync.Day{Requests: n, Output: n * time.Second})
}
