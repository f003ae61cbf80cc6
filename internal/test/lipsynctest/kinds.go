package lipsynctest

import (
	"fmt"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// createOf creates a request of the kind by the account "a".
func createOf(t *testing.T, store lipsync.Store, kind lipsync.Kind, second int, limits lipsync.Limits) (lipsync.Request, error) {
	t.Helper()
	r := newRequest("a", "")
	r.Kind, r.KeyID, r.CreatedAt = kind, "", at(second)
	r, _, err := store.Requests.Create(t.Context(), r, nil, nil, limits)
	return r, err
}

// testKinds makes requests of each kind. Lists and counts have those to render only.
func testKinds(t *testing.T, store lipsync.Store) {
	putWebhooks(t, store, newWebhook("all"))
	var all []lipsync.Request
	for i, kind := range lipsync.Kinds() {
		r, err := createOf(t, store, kind, i, lipsync.Limits{})
		must(t, err)
		want(t, "webhooks of "+string(kind), r.Targets != nil, kind == lipsync.ToRender)
		r, err = claim(t, store, r.ID, "w", 10+i)
		must(t, err)
		must(t, Finish(t.Context(), store.Leases, r.ID, "w", at(20), lipsync.Outcome{Output: "o", Length: time.Second, Size: 7}))
		r, err = r.Ended("w", at(20), lipsync.Outcome{Output: "o", Length: time.Second, Size: 7})
		must(t, err)
		wantStored(t, store, r)
		all = append(all, r)
	}
	only := []string{all[0].ID}
	page, total, err := store.Requests.List(t.Context(), "a", "", 0, 10)
	must(t, err)
	want(t, "list", fmt.Sprint(ids(page), total), fmt.Sprint(only, 1))
	page, counted, err := store.Requests.ListByStatus(t.Context(), lipsync.StatusQuery{Account: "a", Status: lipsync.Completed, Limit: 10, Count: 10})
	must(t, err)
	want(t, "list by status", fmt.Sprint(ids(page), counted), fmt.Sprint(only, 1))
	if _, _, err := store.Requests.ListFrom(t.Context(), lipsync.PlaceQuery{Account: "a", Kind: lipsync.ToAnalyze, Limit: 10}); err == nil {
		t.Error("a list has analyses with any status")
	}
	page, _, err = store.Requests.ListFrom(t.Context(), lipsync.PlaceQuery{Account: "a", Status: lipsync.Completed, Limit: 10})
	must(t, err)
	want(t, "list from the begin", fmt.Sprint(ids(page)), fmt.Sprint(only))
	days, err := store.Requests.Usage(t.Context(), "a", at(0), 1)
	must(t, err)
	want(t, "usage", fmt.Sprint(days), fmt.Sprint([]lipsync.Day{{Requests: 1, Output: time.Second}}))
	stored, err := store.Requests.Stored(t.Context(), "a", at(0), lipsync.Retention{})
	must(t, err)
	size := int64(0)
	for _, r := range all {
		size += r.Size + r.RecordSize()
	}
	want(t, "stored bytes, of all kinds", stored, size)
	events, err := store.Webhooks.Deliveries(t.Context(), "all", "", 10)
	must(t, err)
	want(t, "events", len(events), 2)
}

// testLimitsOfKinds fills the limit on open requests of one kind after another, and the one on bytes of all together.
func testLimitsOfKinds(t *testing.T, store lipsync.Store) {
	record := newRequest("a", "").RecordSize()
	limits := lipsync.Limits{Open: 2, Stored: 4 + 6*(record+3)} // an upload, and requests with outputs of 3 bytes
	must(t, store.Uploads.Create(t.Context(), lipsync.Upload{ID: "u", Account: "a", Size: 4, CreatedAt: at(0)}, lipsync.Limits{}))
	for _, kind := range lipsync.Kinds() {
		for i := range 2 {
			_, err := createOf(t, store, kind, i, limits)
			must(t, err)
		}
		_, err := createOf(t, store, kind, 3, limits)
		wantCode(t, err, failure.OpenLimit)
	}
	for range 2 * len(lipsync.Kinds()) {
		r, err := claim(t, store, "", "w", 10)
		must(t, err)
		must(t, Finish(t.Context(), store.Leases, r.ID, "w", at(10), lipsync.Outcome{Output: "o", Size: 3}))
	}
	for _, kind := range lipsync.Kinds() {
		_, err := createOf(t, store, kind, 20, limits)
		wantCode(t, err, failure.StorageLimit)
	}
}

// testTurnsOfKinds has requests of one kind wait for a worker while many of another kind wait. Uses finds the inputs of all.
func testTurnsOfKinds(t *testing.T, store lipsync.Store) {
	var all []lipsync.Request
	for i, kind := range []lipsync.Kind{lipsync.ToRender, lipsync.ToRender, lipsync.ToRender, lipsync.ToEstimate, lipsync.ToAnalyze} {
		r := newRequest("a", "")
		r.Kind, r.KeyID, r.CreatedAt, r.Video = kind, "", at(i), lipsync.Input{Object: fmt.Sprint("uploads/", i)}
		r, _, err := store.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{})
		must(t, err)
		all = append(all, r)
	}
	l, err := store.Leases.Contest(t.Context(), all[4], lipsync.Classes(), at(10), 100)
	must(t, err)
	waiting := map[lipsync.Kind]int{}
	for _, s := range l.Accounts {
		want(t, "account", s.Account, "a")
		waiting[s.Kind] = s.Waiting
	}
	want(t, "ahead", l.Ahead, 0)
	want(t, "waiting", fmt.Sprint(waiting), fmt.Sprint(map[lipsync.Kind]int{lipsync.ToRender: 3, lipsync.ToEstimate: 1, lipsync.ToAnalyze: 1}))
	for i, n := range []int{0, 3, 4, 1, 2} {
		used, err := store.Requests.Uses(t.Context(), "a", fmt.Sprint("uploads/", n))
		must(t, err)
		want(t, "used", used, true)
		wantNext(t, store, 20+i, all[n].ID)
	}
}
