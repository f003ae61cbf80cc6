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

// newBatch returns a batch of the account that was made n seconds after Start.
func newBatch(account string, n int) lipsync.Batch {
	b := lipsync.Batch{ID: uuid.NewString(), Account: account, KeyID: "key of " + account, CallID: "call of " + account, Lines: "www", CreatedAt: at(n), Version: 1}
	copy(b.Fingerprint[:], account)
	return b
}

func testBatches(t *testing.T, store lipsync.Store) {
	b := newBatch("a", 0)
	_, err := store.Batches.ByID(t.Context(), b.ID)
	wantCode(t, err, failure.NotFound)
	wantCode(t, store.Batches.Swap(t.Context(), b), failure.Conflict)
	b.Targets, err = lipsync.NewTargets("").Resolve(putWebhooks(t, store, newWebhook("all"), newWebhook("others", lipsync.RequestFailed)))
	must(t, err)
	codes := together(8, func(int) error { return store.Batches.Create(t.Context(), b, lipsync.Limits{Batches: 1}) })
	wantCodes(t, codes, map[failure.Code]int{"": 1, failure.Conflict: 7})
	wantBatch(t, store, b)
	b.Lines = "qwr"
	codes = together(8, func(int) error { return store.Batches.Swap(t.Context(), b) })
	wantCodes(t, codes, map[failure.Code]int{"": 1, failure.Conflict: 7})
	b.Version = 2
	wantBatch(t, store, b)
	wantEvents(t, store, "all")
	b.Lines, b.CanceledAt = "qxr", at(5)
	must(t, store.Batches.Swap(t.Context(), b))
	b.Version = 3
	wantBatch(t, store, b)
	b.Lines, b.FinishedAt = "xxr", at(6)
	must(t, store.Batches.Swap(t.Context(), b))
	b.Version = 4
	wantBatch(t, store, b)
	wantCode(t, store.Batches.Swap(t.Context(), newBatch("a", 0)), failure.Conflict)
	event := wantEvents(t, store, "all", lipsync.BatchFinished)[0]
	want(t, "event", event, lipsync.Delivery{
		ID: event.ID, Webhook: "all", Account: "a", Type: lipsync.BatchFinished, Request: b.ID,
		CreatedAt: at(6), State: lipsync.DeliveryWaiting, Due: at(6), Version: 1,
	})
	wantEvents(t, store, "others")
}

func wantBatch(t *testing.T, store lipsync.Store, b lipsync.Batch) {
	t.Helper()
	got, err := store.Batches.ByID(t.Context(), b.ID)
	must(t, err)
	want(t, "batch", got, b)
}

func testBatchLists(t *testing.T, store lipsync.Store) {
	var all []lipsync.Batch // newest first
	for n := range 10 {
		b := newBatch("a", n/2) // two at a time
		must(t, store.Batches.Create(t.Context(), b, lipsync.Limits{}))
		must(t, store.Batches.Create(t.Context(), newBatch("b", n), lipsync.Limits{}))
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b lipsync.Batch) int {
		if c := b.CreatedAt.Compare(a.CreatedAt); c != 0 {
			return c
		}
		return strings.Compare(b.ID, a.ID)
	})
	for _, c := range []struct {
		before lipsync.Batch
		limit  int
		want   []lipsync.Batch
	}{{lipsync.Batch{}, 3, all[:3]}, {all[2], 4, all[3:7]}, {all[7], 10, all[8:]}, {all[9], 10, nil}, {lipsync.Batch{}, 100, all}} {
		got, err := store.Batches.List(t.Context(), "a", c.before, c.limit)
		must(t, err)
		want(t, "page after "+c.before.ID, fmt.Sprint(got), fmt.Sprint(c.want))
	}
	none, err := store.Batches.List(t.Context(), "c", lipsync.Batch{}, 10)
	must(t, err)
	want(t, "batches of another account", len(none), 0)

	for _, limit := range []int{1, 3, 100} {
		var last lipsync.Batch
		read := make(map[string]bool)
		for {
			got, err := store.Batches.Unfinished(t.Context(), last, limit)
			must(t, err)
			if len(got) == 0 {
				break
			}
			for _, b := range got {
				want(t, "is younger than the last", b.CreatedAt.Before(last.CreatedAt), false)
				read[b.ID], last = true, b
			}
			want(t, "too many", len(got) > limit, false)
		}
		want(t, "unfinished", len(read), 20)
	}
	for i := range all[:9] {
		all[i].FinishedAt = at(60)
		must(t, store.Batches.Swap(t.Context(), all[i]))
	}
	got, err := store.Batches.Unfinished(t.Context(), lipsync.Batch{}, 100)
	must(t, err)
	want(t, "unfinished in the end", len(got), 11)
	for _, b := range got {
		want(t, "end of an unfinished one", b.FinishedAt, time.Time{})
		want(t, "its lines", b.Lines, "www")
	}
}

// testBatchLimit makes more batches than the account may have that aren't finished, at the same time.
func testBatchLimit(t *testing.T, store lipsync.Store) {
	limits := lipsync.Limits{Batches: 3}
	made := newBatch("a", 0)
	must(t, store.Batches.Create(t.Context(), made, limits))
	codes := together(8, func(n int) error { return store.Batches.Create(t.Context(), newBatch("a", n), limits) })
	wantCodes(t, codes, map[failure.Code]int{"": 2, failure.BatchLimit: 6})
	wantCode(t, store.Batches.Create(t.Context(), made, limits), failure.Conflict)
	must(t, store.Batches.Create(t.Context(), newBatch("b", 0), limits))
	wantCount(t, store, "a", 3)
	wantCount(t, store, "b", 1)
	wantCount(t, store, "c", 0)
	made.FinishedAt = at(9)
	must(t, store.Batches.Swap(t.Context(), made))
	wantCode(t, store.Batches.Swap(t.Context(), made), failure.Conflict)
	wantCount(t, store, "a", 2)
	codes = together(2, func(n int) error { return store.Batches.Create(t.Context(), newBatch("a", n), limits) })
	wantCodes(t, codes, map[failure.Code]int{"": 1, failure.BatchLimit: 1})
	must(t, store.Batches.Create(t.Context(), newBatch("a", 0), lipsync.Limits{}))
}

func wantCount(t *testing.T, store lipsync.Store, account string, want int) {
	t.Helper()
	if n, err := store.Batches.Count(t.Context(), account); err != nil || n != want {
		t.Errorf("account %s has %d unfinished batches (%v), want %d", account, n, err, want)
	}
}

// testSeveral reads requests of several accounts and states at once.
func testSeveral(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	queued, held, done := add(t, store, ""), add(t, store, ""), add(t, store, "")
	for _, id := range []string{held.ID, done.ID} {
		_, err := claim(t, store, id, "w", 0)
		must(t, err)
	}
	must(t, Finish(t.Context(), store.Leases, done.ID, "w", at(9), lipsync.Outcome{Output: "o"}))
	statuses := func(ids ...string) map[string]lipsync.Status {
		t.Helper()
		found, err := store.Requests.Several(t.Context(), ids)
		must(t, err)
		all := make(map[string]lipsync.Status)
		for _, r := range found {
			all[r.ID] = r.Status
		}
		want(t, "different requests", len(all), len(found))
		return all
	}
	want(t, "none", fmt.Sprint(statuses()), "map[]")
	want(t, "unknown", fmt.Sprint(statuses(uuid.NewString())), "map[]")
	want(t, "all", fmt.Sprint(statuses(uuid.NewString(), queued.ID, held.ID, done.ID)), fmt.Sprint(map[string]lipsync.Status{
		queued.ID: lipsync.Queued, held.ID: lipsync.Processing, done.ID: lipsync.Completed,
	}))
	var many []string
	for range 120 { // more than DynamoDB reads at once
		many = append(many, add(t, store, "").ID)
	}
	want(t, "many", len(statuses(many...)), 120)
}
