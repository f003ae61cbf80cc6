package lipsynctest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// erase erases requests of the account "a" whose media it deletes before.
func erase(t *testing.T, store lipsync.Store, ids ...string) {
	t.Helper()
	for _, id := range ids {
		_, err := forgetMedia(t.Context(), store.Leases, id, at(20))
		must(t, err)
		for range 2 { // the second time it is gone already
			must(t, store.Requests.Erase(t.Context(), id))
		}
		_, err = store.Requests.ByID(t.Context(), id)
		wantCode(t, err, failure.NotFound)
	}
}

// testRecordsCount has records that fill the account's storage for their days, and large ones that count as such.
func testRecordsCount(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	small, large := newRequest("a", ""), newRequest("a", "")
	large.Tracks = lipsync.Tracks{{}, {Ref: "b", Input: lipsync.Input{URL: "https://example.com/" + strings.Repeat("b", 8000)}}}
	if n := large.RecordSize() - small.RecordSize(); n < 8000 || n > 9000 {
		t.Errorf("8000 bytes of a URL count as %d", n)
	}
	limits := lipsync.Limits{Stored: small.RecordSize() + large.RecordSize(), Keep: lipsync.Retention{Outputs: time.Hour, Records: 48 * time.Hour}}
	create := func(r lipsync.Request, day int) error {
		r.ID, r.CreatedAt = uuid.NewString(), Start().AddDate(0, 0, day)
		_, _, err := store.Requests.Create(t.Context(), r, nil, nil, limits)
		return err
	}
	must(t, create(small, 0))
	must(t, create(large, 0))
	wantCode(t, create(small, 0), failure.StorageLimit)
	wantCode(t, create(small, limits.Keep.RecordDays()-1), failure.StorageLimit)
	must(t, create(small, limits.Keep.RecordDays()+32))
}

// testBatchesCount has batches that fill the account's storage for their days, or until they are erased.
func testBatchesCount(t *testing.T, store lipsync.Store) {
	b := newBatch("a", 0)
	stored := func() int64 {
		n, err := store.Requests.Stored(t.Context(), "a", b.CreatedAt, lipsync.Retention{})
		must(t, err)
		return n
	}
	long := b
	long.Lines = strings.Repeat("w", lipsync.MostLines)
	want(t, "lines that count", long.RecordSize()-b.RecordSize(), int64(lipsync.MostLines-len(b.Lines)))
	limits := lipsync.Limits{Stored: 2 * b.RecordSize(), Keep: lipsync.Retention{Outputs: time.Hour, Records: 48 * time.Hour}}
	must(t, store.Batches.Create(t.Context(), b, limits))
	want(t, "stored", stored(), b.RecordSize())
	wantCode(t, store.Batches.Create(t.Context(), b, limits), failure.Conflict)
	want(t, "stored after it was made again", stored(), b.RecordSize())
	must(t, store.Batches.Create(t.Context(), newBatch("a", 1), limits))
	wantCode(t, store.Batches.Create(t.Context(), b, limits), failure.Conflict)

	addKey(t, store, "a", 0)
	_, _, err := store.Requests.Create(t.Context(), newRequest("a", ""), nil, nil, limits)
	wantCode(t, err, failure.StorageLimit)
	must(t, store.Batches.Erase(t.Context(), b.ID)) // it isn't finished
	want(t, "stored", stored(), limits.Stored)
	b.Lines, b.FinishedAt = strings.Repeat(string(lipsync.LineCompleted), len(b.Lines)), at(5)
	must(t, store.Batches.Swap(t.Context(), b))
	together(4, func(int) error { return store.Batches.Erase(t.Context(), b.ID) })
	want(t, "stored after it was erased", stored(), b.RecordSize())
	must(t, store.Batches.Create(t.Context(), newBatch("a", 3), limits))
	later := newBatch("a", 4)
	later.CreatedAt = later.CreatedAt.AddDate(0, 0, limits.Keep.RecordDays()+32)
	must(t, store.Batches.Create(t.Context(), later, limits))
}

// testErase erases one of three requests. Nothing has it any more but the usage.
func testErase(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	var all []string // newest first
	for range 3 {
		all = append([]string{completed(t, store, "").ID}, all...)
	}
	open := add(t, store, "")
	wantCode(t, store.Requests.Erase(t.Context(), open.ID), failure.Conflict)
	wantCode(t, store.Requests.Erase(t.Context(), all[1]), failure.Conflict) // it has media
	wantStoredBytes(t, store, 1200)
	erase(t, store, all[1])
	wantStoredBytes(t, store, 800)
	left := []string{open.ID, all[0], all[2]}
	var listed []string
	for offset := int64(0); ; offset++ {
		page, total, err := store.Requests.List(t.Context(), "a", "", offset, 1)
		must(t, err)
		if offset >= total {
			want(t, "requests of the list", total, 4)
			break
		}
		listed = append(listed, ids(page)...)
	}
	want(t, "pages of one", fmt.Sprint(listed), fmt.Sprint(left))
	page, _, err := store.Requests.List(t.Context(), "a", "", 0, 10)
	must(t, err)
	want(t, "list", fmt.Sprint(ids(page)), fmt.Sprint(left))
	page, _, err = store.Requests.ListByStatus(t.Context(), lipsync.StatusQuery{Account: "a", Status: lipsync.Completed, Limit: 10, Count: 10})
	must(t, err)
	want(t, "completed", fmt.Sprint(slices.Sorted(slices.Values(ids(page)))), fmt.Sprint(slices.Sorted(slices.Values(left[1:]))))
	page, err = store.Requests.Several(t.Context(), all)
	must(t, err)
	want(t, "several", len(page), 2)
	days, err := store.Requests.Usage(t.Context(), "a", at(20), 1)
	must(t, err)
	want(t, "usage", days[0], lipsync.Day{Requests: 4, Output: 3 * time.Second})

	r := newRequest("a", "")
	_, _, err = store.Requests.Create(t.Context(), r, nil, idempotency("k", 1), lipsync.Limits{})
	must(t, err)
	_, err = Cancel(t.Context(), store.Leases, r.ID, at(20))
	must(t, err)
	erase(t, store, r.ID)
	again, replayed, err := store.Requests.Create(t.Context(), newRequest("a", ""), nil, idempotency("k", 1), lipsync.Limits{})
	must(t, err)
	want(t, "replay of what was erased", fmt.Sprint(again.ID, replayed), fmt.Sprint(r.ID, true))

	next := add(t, store, "")
	page, _, err = store.Requests.List(t.Context(), "a", "", 0, 3) // one place is that of an erased request
	must(t, err)
	want(t, "list with a new one", fmt.Sprint(ids(page)), fmt.Sprint([]string{next.ID, open.ID}))
	_, err = forgetMedia(t.Context(), store.Leases, all[1], at(30))
	wantCode(t, err, failure.NotFound)
}

// testEraseReference erases the newest request with a reference id, and then all.
func testEraseReference(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	first, last := completed(t, store, "x"), completed(t, store, "x")
	erase(t, store, last.ID)
	page, total, err := store.Requests.ListByStatus(t.Context(), lipsync.StatusQuery{Account: "a", Status: lipsync.Completed, ReferenceID: "x", Limit: 10, Count: 10})
	must(t, err)
	want(t, "completed with the reference id", fmt.Sprint(ids(page), total), fmt.Sprint([]string{first.ID}, 1))
	r, err := store.Requests.ByReference(t.Context(), "a", "x")
	must(t, err)
	want(t, "newest with the reference id", r.ID, first.ID)
	erase(t, store, first.ID)
	_, err = store.Requests.ByReference(t.Context(), "a", "x")
	wantCode(t, err, failure.NotFound)
	page, _, err = store.Requests.List(t.Context(), "a", "x", 0, 10)
	must(t, err)
	want(t, "list of the reference id", len(page), 0)
	again := add(t, store, "x")
	page, _, err = store.Requests.List(t.Context(), "a", "x", 0, 10)
	must(t, err)
	want(t, "list of the reference id", fmt.Sprint(ids(page)), fmt.Sprint([]string{again.ID}))
}

func testConcurrentErase(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	kept, r := completed(t, store, ""), completed(t, store, "")
	_, err := forgetMedia(t.Context(), store.Leases, r.ID, at(20))
	must(t, err)
	codes := together(8, func(int) error { return store.Requests.Erase(t.Context(), r.ID) })
	wantCodes(t, codes, map[failure.Code]int{"": 8})
	wantStoredBytes(t, store, kept.Size)
}

func testEraseBatch(t *testing.T, store lipsync.Store) {
	b := newBatch("a", 0)
	must(t, store.Batches.Create(t.Context(), b, lipsync.Limits{}))
	must(t, store.Batches.Erase(t.Context(), b.ID)) // it isn't finished
	b.Lines, b.FinishedAt = strings.Repeat(string(lipsync.LineCompleted), len(b.Lines)), at(5)
	must(t, store.Batches.Swap(t.Context(), b))
	for range 2 {
		must(t, store.Batches.Erase(t.Context(), b.ID))
	}
	_, err := store.Batches.ByID(t.Context(), b.ID)
	wantCode(t, err, failure.NotFound)
	list, err := store.Batches.List(t.Context(), b.Account, lipsync.Batch{}, 10)
	must(t, err)
	want(t, "list", len(list), 0)
}

// testFinalRequests lists final requests of all kinds beside open ones.
func testFinalRequests(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	var final []string
	for i, kind := range lipsync.Kinds() {
		for n := range 3 {
			r, err := createOf(t, store, kind, 3*i+n, lipsync.Limits{})
			must(t, err)
			if n == 0 {
				_, err := Cancel(t.Context(), store.Leases, r.ID, at(20))
				must(t, err)
			}
			if n == 1 {
				_, err := claim(t, store, r.ID, "w", 20)
				must(t, err)
				must(t, Finish(t.Context(), store.Leases, r.ID, "w", at(20), lipsync.Outcome{Output: "o"}))
			}
			if n < 2 {
				final = append(final, r.ID)
			}
		}
	}
	var got []string
	for _, kind := range lipsync.Kinds() {
		for _, status := range []lipsync.Status{lipsync.Completed, lipsync.Canceled} {
			page, next, err := store.Requests.ListFrom(t.Context(), lipsync.PlaceQuery{Account: "a", Kind: kind, Status: status, Limit: 1})
			must(t, err)
			got = append(got, ids(page)...)
			want(t, "place behind the oldest", next, "")
		}
	}
	slices.Sort(final)
	slices.Sort(got)
	want(t, "final", fmt.Sprint(got), fmt.Sprint(final))
}
