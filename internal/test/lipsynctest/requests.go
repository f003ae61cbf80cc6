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
	"lipsync/internal/domain/order"
)

func testCreate(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	for _, change := range []func(*lipsync.Request){
		func(r *lipsync.Request) {},
		func(r *lipsync.Request) { r.ReferenceID = "Größe \x00 '\"; --" },
		func(r *lipsync.Request) { r.LargestFace = true },
		func(r *lipsync.Request) { r.Engine = "warp" },
		func(r *lipsync.Request) { r.Class = lipsync.Large },
		func(r *lipsync.Request) {
			r.Options = order.Options{SyncMode: order.Remap, Silence: order.KeepSilent, NoFace: order.FailFaceless, Output: order.Output{Format: order.WebM, FPS: 29970, FileName: "ü", UploadURL: "https://storage.example/a?b=c&d"}}
		},
		func(r *lipsync.Request) { r.Video, r.Audio = r.Audio, r.Video },
		func(r *lipsync.Request) {
			r.Tracks = lipsync.Tracks{{Ref: "é"}, {Input: lipsync.Input{URL: "https://example.com/?a=%20&b"}}}
			r.Options.Segments = order.Segments{{End: time.Second, Ref: "é"}, {Start: time.Second, End: 2500 * time.Millisecond}}
		},
	} {
		r := newRequest("a", "")
		change(&r)
		created, _, err := store.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{})
		must(t, err)
		want(t, "created", created, r)
		got, err := store.Requests.ByID(t.Context(), r.ID)
		must(t, err)
		want(t, "read back", got, r)
	}
	_, err := store.Requests.ByID(t.Context(), uuid.NewString())
	wantCode(t, err, failure.NotFound)
}

// testCreateWithoutKey makes a request of a person while the account's key is used up.
func testCreateWithoutKey(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 1)
	add(t, store, "")
	r := newRequest("a", "x")
	r.KeyID = ""
	created, _, err := store.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{})
	must(t, err)
	want(t, "created", created, r)
	got, err := store.Requests.ByReference(t.Context(), "a", "x")
	must(t, err)
	want(t, "read back", got, r)
	wantUsed(t, store, "a", 1)
}

func testConcurrentCreates(t *testing.T, store lipsync.Store) {
	const n = 100
	addKey(t, store, "a", 0)
	codes := together(n, func(int) error {
		_, _, err := store.Requests.Create(t.Context(), newRequest("a", "same"), nil, nil, lipsync.Limits{})
		return err
	})
	wantCodes(t, codes, map[failure.Code]int{"": n})
	for _, reference := range []string{"", "same"} {
		whole, total, err := store.Requests.List(t.Context(), "a", reference, 0, n)
		must(t, err)
		want(t, "total", total, n)
		seen := make(map[string]bool)
		for _, id := range ids(whole) {
			seen[id] = true
		}
		want(t, "requests in the list", len(seen), n)
		for offset := 0; offset < n; offset += 7 {
			page, total, err := store.Requests.List(t.Context(), "a", reference, int64(offset), 7)
			must(t, err)
			want(t, "total", total, n)
			want(t, "page", fmt.Sprint(ids(page)), fmt.Sprint(ids(whole[offset:min(offset+7, n)])))
		}
	}
	wantUsed(t, store, "a", n)
}

// ids returns the ids of requests.
func ids(list []lipsync.Request) []string {
	var all []string
	for _, r := range list {
		all = append(all, r.ID)
	}
	return all
}

// wantPages checks pages of all sizes and offsets against the whole list,
// newest first.
func wantPages(t *testing.T, store lipsync.Store, reference string, newest []string) {
	t.Helper()
	for offset := range len(newest) + 2 {
		for _, limit := range []int{1, 3, 100} {
			page, total, err := store.Requests.List(t.Context(), "a", reference, int64(offset), limit)
			must(t, err)
			want(t, "total", total, int64(len(newest)))
			from := min(offset, len(newest))
			if got, want := ids(page), newest[from:min(from+limit, len(newest))]; !slices.Equal(got, want) {
				t.Errorf("offset %d, limit %d: got %v, want %v", offset, limit, got, want)
			}
		}
	}
	_, _, err := store.Requests.List(t.Context(), "a", reference, 1<<62, 1)
	must(t, err)
}

func testPages(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	wantPages(t, store, "", nil)
	var newest []string
	for range 9 {
		newest = append([]string{add(t, store, "").ID}, newest...)
	}
	wantPages(t, store, "", newest)
}

func testReferencePages(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	newest := make(map[string][]string)
	for i := range 15 {
		reference := []string{"", "x", "X"}[i%3]
		newest[reference] = append([]string{add(t, store, reference).ID}, newest[reference]...)
	}
	wantPages(t, store, "x", newest["x"])
	wantPages(t, store, "X", newest["X"])
	wantPages(t, store, "never", nil)
}

// testWalk walks along lists while requests are made, and while those that it passed are erased.
func testWalk(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	wantWalk(t, store, lipsync.PlaceQuery{Limit: 3}, nil)
	var newest, some, ended []string
	for i := range 60 { // more than a bucket of DynamoDB
		r := newRequest("a", []string{"", "x", "X"}[i%3])
		r.CreatedAt = r.CreatedAt.Add(time.Duration(i) * time.Second)
		_, _, err := store.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{})
		must(t, err)
		newest = append([]string{r.ID}, newest...)
		if r.ReferenceID == "x" {
			some = append([]string{r.ID}, some...)
		}
		if i%5 == 0 {
			_, err := Cancel(t.Context(), store.Leases, r.ID, r.CreatedAt)
			must(t, err)
			ended = append([]string{r.ID}, ended...)
		}
	}
	for _, limit := range []int{1, 7, 100} {
		wantWalk(t, store, lipsync.PlaceQuery{Limit: limit}, newest)
		wantWalk(t, store, lipsync.PlaceQuery{Limit: limit, ReferenceID: "x"}, some)
		wantWalk(t, store, lipsync.PlaceQuery{Limit: limit, Status: lipsync.Canceled}, ended)
	}
	wantWalk(t, store, lipsync.PlaceQuery{Limit: 3, Account: "b"}, nil)
	for _, place := range []string{"x", "-", "1.5", "\xff", "0/", strings.Repeat("1", 2000)} {
		for _, status := range []lipsync.Status{"", lipsync.Canceled} {
			_, _, err := store.Requests.ListFrom(t.Context(), lipsync.PlaceQuery{Account: "a", Status: status, Limit: 1, Place: place})
			wantCode(t, err, failure.Invalid)
		}
	}
	page, _, err := store.Requests.ListFrom(t.Context(), lipsync.PlaceQuery{Account: "a", Limit: 100, Place: "1000000000000"})
	must(t, err)
	want(t, "requests from a place that no list has", len(page) > 60, true)

	q := lipsync.PlaceQuery{Account: "a", Status: lipsync.Canceled, Limit: 3}
	for erased := 0; ; erased += 3 {
		page, next, err := store.Requests.ListFrom(t.Context(), q)
		must(t, err)
		want(t, "page of those that are left", fmt.Sprint(ids(page)), fmt.Sprint(ended[erased:min(erased+3, len(ended))]))
		for _, r := range page {
			erase(t, store, r.ID)
		}
		if q.Place = next; next == "" {
			break
		}
	}
}

// wantWalk walks along a list, and makes a request after each of the first pages.
func wantWalk(t *testing.T, store lipsync.Store, q lipsync.PlaceQuery, newest []string) {
	t.Helper()
	if q.Account == "" {
		q.Account = "a"
	}
	known := make(map[string]bool)
	for _, id := range newest {
		known[id] = true
	}
	var got []string
	for pages := 0; ; pages++ {
		page, next, err := store.Requests.ListFrom(t.Context(), q)
		must(t, err)
		for _, id := range ids(page) {
			if known[id] { // others were made by earlier walks
				got = append(got, id)
			}
		}
		if q.Place = next; next == "" {
			break
		}
		if pages < 2 {
			add(t, store, q.ReferenceID)
		}
	}
	if !slices.Equal(got, newest) {
		t.Errorf("%+v: got %d requests %v, want %d %v", q, len(got), got, len(newest), newest)
	}
}

func testLatest(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	for range 3 {
		r := add(t, store, "x")
		add(t, store, "other")
		got, err := store.Requests.ByReference(t.Context(), "a", "x")
		must(t, err)
		want(t, "latest", got, r)
	}
	for _, reference := range []string{"", "never"} {
		_, err := store.Requests.ByReference(t.Context(), "a", reference)
		wantCode(t, err, failure.NotFound)
	}
}

func testAccounts(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	addKey(t, store, "b", 0)
	add(t, store, "x")
	r, _, err := store.Requests.Create(t.Context(), newRequest("b", "x"), nil, nil, lipsync.Limits{})
	must(t, err)
	page, total, err := store.Requests.List(t.Context(), "b", "", 0, 10)
	must(t, err)
	want(t, "total", total, 1)
	want(t, "ids", fmt.Sprint(ids(page)), fmt.Sprint([]string{r.ID}))
	latest, err := store.Requests.ByReference(t.Context(), "b", "x")
	must(t, err)
	want(t, "latest", latest, r)
	_, err = store.Requests.ByReference(t.Context(), "c", "x")
	wantCode(t, err, failure.NotFound)
}

// wantUsed checks the number of uses of the account's key.
func wantUsed(t *testing.T, store lipsync.Store, account string, n int64) {
	t.Helper()
	keys, err := store.Keys.List(t.Context(), account)
	must(t, err)
	want(t, "used", keys[0].Used, n)
}

func testTokenLimit(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 2)
	add(t, store, "")
	add(t, store, "")
	r := newRequest("a", "")
	_, _, err := store.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{})
	wantCode(t, err, failure.TokenLimit)
	_, err = store.Requests.ByID(t.Context(), r.ID)
	wantCode(t, err, failure.NotFound)
	wantUsed(t, store, "a", 2)
}

func testConcurrentTokenLimit(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 7)
	codes := together(30, func(int) error {
		_, _, err := store.Requests.Create(t.Context(), newRequest("a", ""), nil, nil, lipsync.Limits{})
		return err
	})
	wantCodes(t, codes, map[failure.Code]int{"": 7, failure.TokenLimit: 23})
	wantUsed(t, store, "a", 7)
	_, total, err := store.Requests.List(t.Context(), "a", "", 0, 1)
	must(t, err)
	want(t, "total", total, 7)
}

// idempotency returns a record of the key with the fingerprint that expires after a day.
func idempotency(key string, fingerprint byte) *lipsync.Idempotency {
	return &lipsync.Idempotency{
		Key: key, Fingerprint: [32]byte{fingerprint}, ExpiresAt: Start().Add(24 * time.Hour),
	}
}

func testReplay(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	first, replayed, err := store.Requests.Create(t.Context(), newRequest("a", "x"), nil, idempotency("k", 1), lipsync.Limits{})
	must(t, err)
	want(t, "first replayed", replayed, false)
	again, replayed, err := store.Requests.Create(t.Context(), newRequest("a", "x"), nil, idempotency("k", 1), lipsync.Limits{})
	must(t, err)
	want(t, "again replayed", replayed, true)
	want(t, "again", again, first)
	_, _, err = store.Requests.Create(t.Context(), newRequest("a", "x"), nil, idempotency("k", 2), lipsync.Limits{})
	wantCode(t, err, failure.Reused)
	_, replayed, err = store.Requests.Create(t.Context(), newRequest("a", "x"), nil, idempotency("other", 1), lipsync.Limits{})
	must(t, err)
	want(t, "other key replayed", replayed, false)
	wantUsed(t, store, "a", 2)
}

func testReplaySpent(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 1)
	first, _, err := store.Requests.Create(t.Context(), newRequest("a", ""), nil, idempotency("k", 1), lipsync.Limits{})
	must(t, err)
	again, _, err := store.Requests.Create(t.Context(), newRequest("a", ""), nil, idempotency("k", 1), lipsync.Limits{})
	must(t, err)
	want(t, "id", again.ID, first.ID)
	_, _, err = store.Requests.Create(t.Context(), newRequest("a", ""), nil, idempotency("k", 2), lipsync.Limits{})
	wantCode(t, err, failure.Reused)
	_, _, err = store.Requests.Create(t.Context(), newRequest("a", ""), nil, idempotency("new", 1), lipsync.Limits{})
	wantCode(t, err, failure.TokenLimit)
}

func testConcurrentReplay(t *testing.T, store lipsync.Store) {
	const n = 20
	addKey(t, store, "a", 0)
	got := make([]string, n)
	codes := together(n, func(i int) error {
		r, _, err := store.Requests.Create(t.Context(), newRequest("a", ""), nil, idempotency("k", 1), lipsync.Limits{})
		got[i] = r.ID
		return err
	})
	wantCodes(t, codes, map[failure.Code]int{"": n})
	want(t, "different ids", len(slices.Compact(got)), 1)
	wantUsed(t, store, "a", 1)
}

func testIdempotencyExpires(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	for i := range 20 { // other records that expire too
		_, _, err := store.Requests.Create(t.Context(), newRequest("a", ""), nil, idempotency(fmt.Sprint("before k ", i), 1), lipsync.Limits{})
		must(t, err)
	}
	first, _, err := store.Requests.Create(t.Context(), newRequest("a", ""), nil, idempotency("k", 1), lipsync.Limits{})
	must(t, err)
	create := func(after time.Duration, fingerprint byte) (lipsync.Request, bool) {
		t.Helper()
		r := newRequest("a", "")
		r.CreatedAt = Start().Add(after)
		idem := idempotency("k", fingerprint)
		idem.ExpiresAt = r.CreatedAt.Add(24 * time.Hour)
		created, replayed, err := store.Requests.Create(t.Context(), r, nil, idem, lipsync.Limits{})
		must(t, err)
		return created, replayed
	}
	again, replayed := create(24*time.Hour-time.Second, 1)
	want(t, "replayed before the end", replayed, true)
	want(t, "id before the end", again.ID, first.ID)
	second, replayed := create(24*time.Hour, 2)
	want(t, "replayed after the end", replayed, false)
	again, replayed = create(25*time.Hour, 2)
	want(t, "second key's replay", replayed, true)
	want(t, "second key's id", again.ID, second.ID)
}

func testIdempotencyAccounts(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	addKey(t, store, "b", 0)
	for _, account := range []string{"a", "b"} {
		_, replayed, err := store.Requests.Create(t.Context(), newRequest(account, ""), nil, idempotency("k", account[0]), lipsync.Limits{})
		must(t, err)
		want(t, "replayed", replayed, false)
	}
}

func testRefusedCreate(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 1)
	_, _, err := store.Requests.Create(t.Context(), newRequest("a", "x"), []string{uuid.NewString()}, idempotency("k", 1), lipsync.Limits{})
	wantCode(t, err, failure.Invalid)
	wantUsed(t, store, "a", 0)
	_, total, err := store.Requests.List(t.Context(), "a", "x", 0, 1)
	must(t, err)
	want(t, "total", total, 0)
	// The idempotency key is free too.
	_, replayed, err := store.Requests.Create(t.Context(), newRequest("a", ""), nil, idempotency("k", 2), lipsync.Limits{})
	must(t, err)
	want(t, "replayed", replayed, false)
}
