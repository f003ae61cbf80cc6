package lipsynctest

import (
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// newKey returns a key whose hash begins with the letter of its id.
func newKey(id, account string, second int) lipsync.Key {
	return lipsync.Key{
		ID: id, Account: account, Name: "Laptop – " + id, Hash: [32]byte{id[0]}, CreatedAt: at(second), Limit: 3, Start: "lipsync_abc" + id,
		ExpiresAt: at(second + 1000), ReadOnly: id == "y",
	}
}

func testKeys(t *testing.T, store lipsync.Store) {
	x, y, z := newKey("x", "a", 2), newKey("y", "b", 1), newKey("z", "a", 0)
	for _, k := range []lipsync.Key{z, y, x} {
		must(t, store.Keys.Create(t.Context(), k))
	}
	for _, c := range []struct {
		account string
		keys    []lipsync.Key
	}{
		{"a", []lipsync.Key{z, x}},
		{"b", []lipsync.Key{y}},
		{"c", nil},
		{"", []lipsync.Key{z, y, x}},
	} {
		got, err := store.Keys.List(t.Context(), c.account)
		must(t, err)
		if len(got) != len(c.keys) {
			t.Fatalf("account %q: got %d keys, want %d", c.account, len(got), len(c.keys))
		}
		for i, k := range c.keys {
			want(t, "key", got[i], k)
		}
	}
}

func testKeyByHash(t *testing.T, store lipsync.Store) {
	k := newKey("x", "a", 0)
	k.ExpiresAt, k.ReadOnly = time.Time{}, true
	must(t, store.Keys.Create(t.Context(), k))
	got, err := store.Keys.ByHash(t.Context(), k.Hash)
	must(t, err)
	want(t, "key", got, k)
	_, err = store.Keys.ByHash(t.Context(), [32]byte{1})
	wantCode(t, err, failure.NotFound)
}

func testTouchKey(t *testing.T, store lipsync.Store) {
	k := newKey("x", "a", 0)
	must(t, store.Keys.Create(t.Context(), k))
	for _, c := range []struct{ touched, want int }{{5, 5}, {3, 5}, {9, 9}} {
		must(t, store.Keys.Touch(t.Context(), "x", at(c.touched)))
		k.LastUsed = at(c.want)
		got, err := store.Keys.ByHash(t.Context(), k.Hash)
		must(t, err)
		want(t, "key", got, k)
	}
	must(t, store.Keys.Touch(t.Context(), "never", at(1)))
}

func testRevokeKey(t *testing.T, store lipsync.Store) {
	k := newKey("x", "a", 0)
	must(t, store.Keys.Create(t.Context(), k))
	wantCode(t, store.Keys.Revoke(t.Context(), "b", "x", at(1)), failure.NotFound)
	wantCode(t, store.Keys.Revoke(t.Context(), "a", "never", at(1)), failure.NotFound)
	for _, c := range []struct {
		account string
		second  int
	}{{"a", 2}, {"a", 3}, {"", 4}} {
		must(t, store.Keys.Revoke(t.Context(), c.account, "x", at(c.second)))
		k.RevokedAt = at(2) // the first time stays
		got, err := store.Keys.ByHash(t.Context(), k.Hash)
		must(t, err)
		want(t, "key", got, k)
	}
}

func testRate(t *testing.T, store lipsync.Store) {
	for _, c := range []struct {
		second int
		wait   time.Duration // 0 if the call may go on
		left   int
	}{
		{0, 0, 1}, {10, 0, 0}, {20, 40 * time.Second, 0}, {59, time.Second, 0}, {60, 0, 1}, {61, 0, 0}, {62, 58 * time.Second, 0}, {500, 0, 1},
	} {
		got, err := store.Rates.Take(t.Context(), "k", 2, at(c.second))
		must(t, err)
		if got.Refused != (c.wait > 0) || got.Resets <= 0 || got.Resets > time.Minute {
			t.Errorf("second %d: got %+v, want a wait of about %v", c.second, got, c.wait)
		}
		want(t, "calls left", got.Left, c.left)
		if got.Refused {
			// A call at the end of the wait is allowed.
			want(t, "end of the wait", at(c.second).Add(got.Resets), at(c.second).Add(c.wait))
		}
	}
}

func testConcurrentRate(t *testing.T, store lipsync.Store) {
	for _, second := range []int{0, 60} {
		codes := together(50, func(int) error {
			a, err := store.Rates.Take(t.Context(), "k", 8, at(second))
			if err == nil && a.Refused {
				return &failure.Error{Code: failure.RateLimited}
			}
			return err
		})
		wantCodes(t, codes, map[failure.Code]int{"": 8, failure.RateLimited: 42})
	}
}

func testRatesApart(t *testing.T, store lipsync.Store) {
	for _, name := range []string{"read/k", "generate/k", "read/l"} {
		for i := range 3 {
			a, err := store.Rates.Take(t.Context(), name, 2, at(i))
			must(t, err)
			want(t, name+" is refused", a.Refused, i == 2)
		}
	}
}
