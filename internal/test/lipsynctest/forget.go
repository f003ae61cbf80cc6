package lipsynctest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// wantDropped checks the upload after it was dropped.
func wantDropped(t *testing.T, store lipsync.Store, u lipsync.Upload, expires time.Time) {
	t.Helper()
	u.Dropped, u.ExpiresAt = true, expires
	got, err := store.Uploads.ByID(t.Context(), u.ID)
	must(t, err)
	want(t, "dropped", got, u)
}

func testDropUpload(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	must(t, store.Uploads.Create(t.Context(), newUpload("u", 9), lipsync.Limits{}))
	var users []lipsync.Request
	for range 2 {
		r, _, err := store.Requests.Create(t.Context(), newRequest("a", ""), []string{"u"}, nil, lipsync.Limits{})
		must(t, err)
		users = append(users, r)
	}
	u, err := store.Uploads.ByID(t.Context(), "u")
	must(t, err)
	older := u
	older.RequestID = users[0].ID
	wantCode(t, store.Uploads.Drop(t.Context(), older, at(50)), failure.Conflict)
	got, err := store.Uploads.ByID(t.Context(), "u")
	must(t, err)
	want(t, "after a conflict", got, u)
	for range 2 {
		must(t, store.Uploads.Drop(t.Context(), u, at(50)))
		wantDropped(t, store, u, at(50))
	}
	_, _, err = store.Requests.Create(t.Context(), newRequest("a", ""), []string{"u"}, nil, lipsync.Limits{})
	wantCode(t, err, failure.Invalid)
	wantUsed(t, store, "a", 2)
	expired, err := store.Uploads.Expired(t.Context(), at(51), lipsync.Upload{}, 9)
	must(t, err)
	want(t, "expired", len(expired), 1)
	must(t, store.Uploads.Delete(t.Context(), u))
	must(t, store.Uploads.Drop(t.Context(), u, at(50)))
	_, err = store.Uploads.ByID(t.Context(), "u")
	wantCode(t, err, failure.NotFound)
}

// testDropOrUse drops an upload while a new request uses it. Only one of the two calls succeeds.
func testDropOrUse(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	for i := range 10 {
		u := newUpload(fmt.Sprint("u", i), 9)
		must(t, store.Uploads.Create(t.Context(), u, lipsync.Limits{}))
		_, _, err := store.Requests.Create(t.Context(), newRequest("a", ""), []string{u.ID}, nil, lipsync.Limits{})
		must(t, err)
		u, err = store.Uploads.ByID(t.Context(), u.ID)
		must(t, err)
		var dropped, used error
		together(2, func(i int) error {
			if i == 0 {
				dropped = store.Uploads.Drop(t.Context(), u, at(50))
			} else {
				_, _, used = store.Requests.Create(t.Context(), newRequest("a", ""), []string{u.ID}, nil, lipsync.Limits{})
			}
			return nil
		})
		got := [2]failure.Code{failure.CodeOf(dropped), failure.CodeOf(used)}
		if got != [2]failure.Code{"", failure.Invalid} && got != [2]failure.Code{failure.Conflict, ""} {
			t.Errorf("got %q for the drop and the use: want one of both", got)
		}
		stored, err := store.Uploads.ByID(t.Context(), u.ID)
		must(t, err)
		want(t, "is dropped", stored.Dropped, dropped == nil)
	}
}

func testUses(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	waits := add(t, store, "")
	_, err := claim(t, store, add(t, store, "").ID, "w", 0)
	must(t, err)
	both := newRequest("a", "")
	both.Video, both.Tracks = lipsync.Input{Object: "uploads/v"}, lipsync.Tracks{{}, {Ref: "ben", Input: lipsync.Input{Object: "uploads/b"}}}
	_, _, err = store.Requests.Create(t.Context(), both, nil, nil, lipsync.Limits{})
	must(t, err)
	check := func(account, object string, uses bool) {
		t.Helper()
		got, err := store.Requests.Uses(t.Context(), account, object)
		must(t, err)
		want(t, account+" uses "+object, got, uses)
	}
	check("a", "uploads/a", true)
	check("a", "uploads/v", true)
	check("a", "uploads/b", true)
	check("a", "uploads/", false)
	check("a", "uploads/other", false)
	check("b", "uploads/a", false)
	_, err = Cancel(t.Context(), store.Leases, both.ID, at(1))
	must(t, err)
	check("a", "uploads/v", false)
	_, err = Cancel(t.Context(), store.Leases, waits.ID, at(1))
	must(t, err)
	check("a", "uploads/a", true) // the request in processing uses it
}

func testReplayed(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	_, err := store.Requests.Replayed(t.Context(), "a", *idempotency("k", 1), at(0))
	wantCode(t, err, failure.NotFound)
	r, _, err := store.Requests.Create(t.Context(), newRequest("a", ""), nil, idempotency("k", 1), lipsync.Limits{})
	must(t, err)
	id, err := store.Requests.Replayed(t.Context(), "a", *idempotency("k", 1), at(1))
	must(t, err)
	want(t, "replayed", id, r.ID)
	_, err = store.Requests.Replayed(t.Context(), "a", *idempotency("k", 2), at(1))
	wantCode(t, err, failure.Reused)
	for _, c := range []struct {
		account, key string
		now          time.Time
	}{{"b", "k", at(1)}, {"a", "other", at(1)}, {"a", "k", Start().Add(24 * time.Hour)}} {
		_, err = store.Requests.Replayed(t.Context(), c.account, *idempotency(c.key, 1), c.now)
		wantCode(t, err, failure.NotFound)
	}
}

// completed returns a request of the account "a" whose output has 400 bytes.
func completed(t *testing.T, store lipsync.Store, referenceID string) lipsync.Request {
	t.Helper()
	r, err := claim(t, store, add(t, store, referenceID).ID, "w", 0)
	must(t, err)
	must(t, store.Leases.NoteVideo(t.Context(), r.ID, "w", [32]byte{1}))
	must(t, Finish(t.Context(), store.Leases, r.ID, "w", at(5), lipsync.Outcome{Output: "o.mp4", Length: time.Second, Size: 400}))
	r, err = store.Requests.ByID(t.Context(), r.ID)
	must(t, err)
	return r
}

// recordsOf returns the size of all records of the account "a" that are listed.
func recordsOf(t *testing.T, store lipsync.Store) (n int64) {
	t.Helper()
	page, _, err := store.Requests.List(t.Context(), "a", "", 0, 100)
	must(t, err)
	for _, listed := range page {
		r, err := store.Requests.ByID(t.Context(), listed.ID)
		must(t, err)
		n += r.RecordSize()
	}
	return n
}

// wantStoredBytes checks the number of bytes that the account "a" stores beside its records: by Stored, and by the
// number that it may still store.
func wantStoredBytes(t *testing.T, store lipsync.Store, n int64) {
	t.Helper()
	records := recordsOf(t, store)
	limits := lipsync.Limits{Stored: 1000 + records}
	u := newUpload(uuid.NewString(), 9)
	stored, err := store.Requests.Stored(t.Context(), "a", u.CreatedAt, limits.Keep)
	must(t, err)
	want(t, "stored", stored, n+records)
	u.Size = 1000 - n + 1
	wantCode(t, store.Uploads.Create(t.Context(), u, limits), failure.StorageLimit)
	u.Size--
	must(t, store.Uploads.Create(t.Context(), u, limits))
	must(t, store.Uploads.Delete(t.Context(), u))
}

func testForgetMedia(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	kept, r := completed(t, store, "x"), completed(t, store, "x")
	wantStoredBytes(t, store, 800)
	r.Output, r.VideoSum, r.MediaDeletedAt = "", [32]byte{}, at(20)
	for second := range 3 {
		got, err := forgetMedia(t.Context(), store.Leases, r.ID, at(20+second).Add(999)) // no store keeps nanoseconds
		must(t, err)
		want(t, "forgotten", got, r)
		wantStored(t, store, r)
		wantStoredBytes(t, store, 400)
	}
	for _, reference := range []string{"", "x"} {
		page, _, err := store.Requests.List(t.Context(), "a", reference, 0, 2)
		must(t, err)
		want(t, "listed as", fmt.Sprint(page[0].Status, page[0].Output, page[0].MediaDeletedAt, page[1].Output),
			fmt.Sprint(r.Status, "", r.MediaDeletedAt, kept.Output))
		found, _, err := store.Requests.ListByStatus(t.Context(), lipsync.StatusQuery{Account: "a", Status: lipsync.Completed, ReferenceID: reference, Limit: 2, Count: 2})
		must(t, err)
		want(t, "by status", fmt.Sprint(slices.Sorted(slices.Values(ids(found)))), fmt.Sprint(slices.Sorted(slices.Values(ids(page)))))
	}
	want(t, "digest of the video of the other request", kept.VideoSum, [32]byte{1})
	wantStored(t, store, kept)
	days, err := store.Requests.Usage(t.Context(), "a", at(20), 1)
	must(t, err)
	want(t, "usage", days[0], lipsync.Day{Requests: 2, Output: 2 * time.Second})

	failed, err := claim(t, store, add(t, store, "").ID, "w", 0)
	must(t, err)
	must(t, Finish(t.Context(), store.Leases, failed.ID, "w", at(6), lipsync.Outcome{Failure: noFace()}))
	got, err := forgetMedia(t.Context(), store.Leases, failed.ID, at(21))
	must(t, err)
	want(t, "failed", fmt.Sprint(got.Status, got.Failure, got.MediaDeletedAt), fmt.Sprint(lipsync.Failed, noFace(), at(21)))
	wantStored(t, store, got)
	wantStoredBytes(t, store, 400)
}

func testForgetOpen(t *testing.T, store lipsync.Store) {
	_, err := forgetMedia(t.Context(), store.Leases, uuid.NewString(), at(1))
	wantCode(t, err, failure.NotFound)
	r := held(t, store)
	waits := add(t, store, "")
	for _, open := range []lipsync.Request{r, waits} {
		_, err := forgetMedia(t.Context(), store.Leases, open.ID, at(1))
		wantCode(t, err, failure.Conflict)
		wantStored(t, store, open)
	}
}

func testConcurrentForget(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	completed(t, store, "")
	r := completed(t, store, "")
	codes := together(8, func(i int) error {
		_, err := forgetMedia(t.Context(), store.Leases, r.ID, at(20+i))
		return err
	})
	wantCodes(t, codes, map[failure.Code]int{"": 8})
	wantStoredBytes(t, store, 400)
}
