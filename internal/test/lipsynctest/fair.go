package lipsynctest

import (
	"fmt"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// addAt creates a request of an account at the second. The account's key exists.
func addAt(t *testing.T, store lipsync.Store, account string, second int) string {
	t.Helper()
	r := newRequest(account, "")
	r.CreatedAt = at(second)
	_, _, err := store.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{})
	must(t, err)
	return r.ID
}

// wantNext claims the next request at the second with a new token and checks its id.
func wantNext(t *testing.T, store lipsync.Store, second int, id string) {
	t.Helper()
	r, err := claim(t, store, "", "w"+id, second)
	must(t, err)
	want(t, fmt.Sprint("claimed at second ", second), r.ID, id)
}

// testClaimFairly has one account with 30 queued requests and others that run, and then one request
// of each of two other accounts.
func testClaimFairly(t *testing.T, store lipsync.Store) {
	for _, account := range []string{"a", "b", "c"} {
		addKey(t, store, account, 0)
	}
	var all []string
	for i := range 32 {
		all = append(all, addAt(t, store, "a", i))
	}
	wantNext(t, store, 40, all[0])
	wantNext(t, store, 40, all[1])
	c, b1, b2 := addAt(t, store, "c", 50), addAt(t, store, "b", 51), addAt(t, store, "b", 52)
	for _, id := range []string{c, b1, b2, all[2]} { // then b has as many as a, which waits longer
		wantNext(t, store, 53, id)
	}
	must(t, Finish(t.Context(), store.Leases, b1, "w"+b1, at(54), lipsync.Outcome{Output: "o"}))
	wantNext(t, store, 55, all[3]) // b has no queued request
	must(t, Release(t.Context(), store.Leases, b2, "w"+b2))
	wantNext(t, store, 56, b2)
}

// testClaimInTurn has one worker. No request runs at its claims, so it gets a request of the
// account whose last claim is longest ago.
func testClaimInTurn(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	addKey(t, store, "b", 0)
	var all []string
	for i := range 5 {
		all = append(all, addAt(t, store, "a", i))
	}
	b1, b2 := addAt(t, store, "b", 10), addAt(t, store, "b", 11)
	for i, id := range []string{all[0], b1, all[1], b2, all[2], all[3]} {
		wantNext(t, store, 20+i, id)
		must(t, Finish(t.Context(), store.Leases, id, "w"+id, at(20+i), lipsync.Outcome{Output: "o"}))
	}
	b3 := addAt(t, store, "b", 12)
	wantNext(t, store, 1, all[4]) // a clock that was set back says nothing, and this is older
	wantNext(t, store, 1, b3)
}

// testEndedLeasesDoNotRun has an account whose two leases have ended, and one with a lease that
// goes on.
func testEndedLeasesDoNotRun(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	addKey(t, store, "b", 0)
	b1, b2 := addAt(t, store, "b", 0), addAt(t, store, "b", 1)
	a1, a2 := addAt(t, store, "a", 2), addAt(t, store, "a", 3)
	for _, id := range []string{a1, a2} {
		_, err := claim(t, store, id, "dead", 4)
		must(t, err)
	}
	_, err := claim(t, store, b1, "w", 40)
	must(t, err)
	wantNext(t, store, 64, a1)
	wantNext(t, store, 64, b2) // one runs of each, and this is older than a2
	wantNext(t, store, 64, a2)
	_, err = claim(t, store, "", "w", 64)
	wantCode(t, err, failure.NotFound)
}

// testPostponedDoesNotRun has an account with two postponed requests, and one with a running request.
// A postponed request is not claimed before its time, even by id.
func testPostponedDoesNotRun(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	addKey(t, store, "b", 0)
	a1, a2, b1 := addAt(t, store, "a", 0), addAt(t, store, "a", 1), addAt(t, store, "b", 2)
	for _, id := range []string{a1, a2} {
		r, err := claim(t, store, id, "w", 3)
		must(t, err)
		must(t, Postpone(t.Context(), store.Leases, r, at(40)))
	}
	_, err := claim(t, store, b1, "w", 4)
	must(t, err)
	b2, a3 := addAt(t, store, "b", 5), addAt(t, store, "a", 6)
	wantNext(t, store, 7, a3) // b has one running request
	wantNext(t, store, 8, b2)
	for _, id := range []string{a1, ""} {
		_, err = claim(t, store, id, "early", 39)
		wantCode(t, err, failure.NotFound)
	}
	wantNext(t, store, 40, a1)
	wantNext(t, store, 40, a2)
}

func testOpenLimit(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	addKey(t, store, "b", 0)
	create := func(account string, limit int, idem *lipsync.Idempotency) (string, error) {
		r, _, err := store.Requests.Create(t.Context(), newRequest(account, ""), nil, idem, lipsync.Limits{Open: limit})
		return r.ID, err
	}
	var all []string
	for range 3 {
		id, err := create("a", 3, idempotency("k"+fmt.Sprint(len(all)), 1))
		must(t, err)
		all = append(all, id)
	}
	refused := func(limit int) {
		t.Helper()
		_, err := create("a", limit, idempotency("refused", 1))
		wantCode(t, err, failure.OpenLimit)
	}
	refused(3)
	refused(2) // a limit that was lowered
	again, err := create("a", 3, idempotency("k0", 1))
	must(t, err)
	want(t, "replay", again, all[0])
	_, err = create("b", 3, nil)
	must(t, err)

	_, err = claim(t, store, all[0], "w", 0)
	must(t, err)
	refused(3) // held requests are open
	must(t, Finish(t.Context(), store.Leases, all[0], "w", at(1), lipsync.Outcome{Output: "o"}))
	_, err = create("a", 3, nil)
	must(t, err)
	refused(3)
	_, err = Cancel(t.Context(), store.Leases, all[1], at(2))
	must(t, err)
	_, err = create("a", 3, nil)
	must(t, err)
	refused(3)
	wantUsed(t, store, "a", 5)
	_, err = create("a", 4, nil) // one that was raised
	must(t, err)
}

// testConcurrentOpenLimit creates more requests at the same time than the limit allows.
func testConcurrentOpenLimit(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	codes := together(20, func(int) error {
		_, _, err := store.Requests.Create(t.Context(), newRequest("a", ""), nil, nil, lipsync.Limits{Open: 8})
		return err
	})
	wantCodes(t, codes, map[failure.Code]int{"": 8, failure.OpenLimit: 12})
}

// testStorageLimit has uploads and an output that together reach the account's limit, and deletes
// them one after the other.
func testStorageLimit(t *testing.T, store lipsync.Store) {
	wantOutputDays(t, store, lipsync.Retention{}, 31)
}

// testRetention has outputs that are kept for less than two days.
func testRetention(t *testing.T, store lipsync.Store) {
	wantOutputDays(t, store, lipsync.Retention{Outputs: 36 * time.Hour}, 3)
}

// wantOutputDays fills an account's storage and checks the number of days for which its output
// counts.
func wantOutputDays(t *testing.T, store lipsync.Store, keep lipsync.Retention, days int) {
	addKey(t, store, "a", 0)
	addKey(t, store, "b", 0)
	record := newRequest("a", "").RecordSize()
	limits := lipsync.Limits{Stored: 1000 + record, Keep: keep}
	upload := func(id, account string, size int64, day int) (lipsync.Upload, error) {
		u := newUpload(id, 10)
		u.Account, u.Size, u.CreatedAt = account, size, Start().AddDate(0, 0, day)
		return u, store.Uploads.Create(t.Context(), u, limits)
	}
	create := func(account string, day int) (lipsync.Request, error) {
		r := newRequest(account, "")
		r.CreatedAt = Start().AddDate(0, 0, day)
		r, _, err := store.Requests.Create(t.Context(), r, nil, nil, limits)
		return r, err
	}
	full := func(what string, err error) {
		t.Helper()
		if failure.CodeOf(err) != failure.StorageLimit {
			t.Errorf("%s: got %v, want that the limit is reached", what, err)
		}
	}
	r, err := create("a", 0)
	must(t, err)
	r, err = claim(t, store, r.ID, "w", 0)
	must(t, err)
	o := lipsync.Outcome{Output: "o", Length: time.Second, Size: 400}
	must(t, Finish(t.Context(), store.Leases, r.ID, "w", at(1), o))
	r, err = r.Ended("w", at(1), o)
	must(t, err)
	wantStored(t, store, r)

	first, err := upload("u", "a", 500, 0)
	must(t, err)
	_, err = upload("v", "a", 101, 0)
	full("an upload that is too large", err)
	_, err = upload("v", "a", 100, 0)
	must(t, err)
	_, err = create("a", 0)
	full("a request", err)
	_, err = create("b", 0)
	must(t, err)
	_, err = upload("of b", "b", 1000, 0)
	must(t, err)

	for range 2 { // the second time it is gone already
		must(t, store.Uploads.Delete(t.Context(), first))
	}
	_, err = upload("w", "a", 501, 0)
	full("after one was deleted", err)
	_, err = upload("w", "a", 500, 0)
	must(t, err)
	_, err = upload("x", "a", 1, days-1)
	full("on the output's last day", err)
	_, err = upload("x", "a", 400, days)
	must(t, err)
	_, err = upload("y", "a", 1, days)
	full("after the output's time", err)
}
