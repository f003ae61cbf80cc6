package lipsynctest

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// testByStatus reads pages of requests with all states and two reference ids.
func testByStatus(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	all := map[lipsync.Status][]string{} // newest first
	for i := range 20 {
		r := newRequest("a", []string{"x", "y"}[i/10])
		r.CreatedAt = r.CreatedAt.Add(time.Duration(i) * time.Microsecond)
		_, _, err := store.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{})
		must(t, err)
		status := lipsync.States()[i%5]
		if status != lipsync.Queued {
			_, err = claim(t, store, r.ID, "w", 0)
			must(t, err)
		}
		switch status {
		case lipsync.Completed:
			must(t, Finish(t.Context(), store.Leases, r.ID, "w", at(1), lipsync.Outcome{Output: "o"}))
		case lipsync.Failed:
			must(t, Finish(t.Context(), store.Leases, r.ID, "w", at(1), lipsync.Outcome{Failure: noFace()}))
		case lipsync.Canceled:
			_, err := Cancel(t.Context(), store.Leases, r.ID, at(1))
			must(t, err)
		}
		all[status] = append([]string{r.ID}, all[status]...)
	}
	for status, newest := range all {
		wantByStatus(t, store, status, "", newest)
		wantByStatus(t, store, status, "x", newest[2:])
		wantByStatus(t, store, status, "y", newest[:2])
		wantByStatus(t, store, status, "z", nil)
		others, _, err := store.Requests.ListByStatus(t.Context(), lipsync.StatusQuery{Account: "b", Status: status, Limit: 1, Count: 1})
		must(t, err)
		want(t, "another account's", len(others), 0)
	}
}

// wantByStatus checks the list of requests with the status, in pages of two.
func wantByStatus(t *testing.T, store lipsync.Store, status lipsync.Status, reference string, newest []string) {
	t.Helper()
	var got []string
	for from := (lipsync.PlaceQuery{Account: "a", Status: status, ReferenceID: reference, Limit: 2}); ; {
		page, next, err := store.Requests.ListFrom(t.Context(), from)
		must(t, err)
		got = append(got, ids(page)...)
		if from.Place = next; next == "" {
			break
		}
		want(t, "state", page[0].State(), status)
		want(t, "requests of a page with another behind it", len(page), 2)
	}
	if !slices.Equal(got, newest) {
		t.Errorf("%s with reference %q: got %v, want %v", status, reference, got, newest)
	}
	q := lipsync.StatusQuery{Account: "a", Status: status, ReferenceID: reference, Limit: 2}
	for q.Offset = range len(newest) + 2 {
		for q.Count = 0; q.Count <= len(newest)+1; q.Count++ {
			end := min(q.Count, len(newest))
			page, total, err := store.Requests.ListByStatus(t.Context(), q)
			must(t, err)
			rest := newest[min(q.Offset, end):end]
			want(t, fmt.Sprintf("page from %d of %d", q.Offset, q.Count), fmt.Sprint(ids(page)), fmt.Sprint(rest[:min(2, len(rest))]))
			want(t, "total", total, end)
		}
	}
}

// testUsage makes requests on three days, the last request at the end of its day, and ends them on
// other days.
func testUsage(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	midnight := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	completed := lipsync.Outcome{Output: "o", Length: 90 * time.Second}
	failed := lipsync.Outcome{Failure: noFace()}
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
		_, _, err := store.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{})
		must(t, err)
		if !reflect.DeepEqual(c.outcome, lipsync.Outcome{}) {
			token, late := fmt.Sprint("w", i), c.created.AddDate(0, 0, 1)
			_, err := store.Leases.Claim(t.Context(), r.ID, token, late, time.Minute, lipsync.Choice{})
			must(t, err)
			must(t, Finish(t.Context(), store.Leases, r.ID, token, late, c.outcome))
			wantCode(t, Finish(t.Context(), store.Leases, r.ID, token, late, c.outcome), failure.Conflict)
		} else if i == 3 {
			_, err := Cancel(t.Context(), store.Leases, r.ID, c.created)
			must(t, err)
		}
	}
	got, err := store.Requests.Usage(t.Context(), "a", midnight.AddDate(0, 0, 2).Add(23*time.Hour), 4)
	must(t, err)
	for i, day := range []lipsync.Day{
		{}, {Requests: 4, Failed: 1, Output: 3 * time.Minute}, {Requests: 1, Output: 90 * time.Second}, {Requests: 1},
	} {
		want(t, fmt.Sprint("day ", i), got[i], day)
	}
	others, err := store.Requests.Usage(t.Context(), "b", midnight, 1)
	must(t, err)
	want(t, "another account's", others[0], lipsync.Day{})
}

// testUsageInSummerTime reads the usage by a local clock on the day on which summer time begins, which
// has 23 hours. 19:30 of that day and 19:30 of the day before are on the same day of UTC.
func testUsageInSummerTime(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	zone, err := time.LoadLocation("America/New_York")
	must(t, err)
	now := time.Date(2026, 3, 8, 19, 30, 0, 0, zone)
	r := newRequest("a", "")
	r.CreatedAt = now.UTC()
	_, _, err = store.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{})
	must(t, err)
	got, err := store.Requests.Usage(t.Context(), "a", now, 2)
	must(t, err)
	want(t, "yesterday", got[0], lipsync.Day{})
	want(t, "today", got[1], lipsync.Day{Requests: 1})
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
		return Finish(t.Context(), store.Leases, all[i].ID, "w", at(1), lipsync.Outcome{Output: "o", Length: time.Second})
	})
	wantCodes(t, codes, map[failure.Code]int{"": n})
	got, err := store.Requests.Usage(t.Context(), "a", at(1), 1)
	must(t, err)
	want(t, "day", got[0], lipsync.Day{Requests: n, Output: n * time.Second})
}
