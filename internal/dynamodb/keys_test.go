package dynamodb_test

import (
	"fmt"
	"testing"
	"time"

	"lipsync/internal/lipsync"
)

// TestManyKeys lists more keys than one call can read.
func TestManyKeys(t *testing.T) {
	t.Parallel()
	const n = 101
	s := open(t)
	for i := range n {
		k := lipsync.Key{
			ID: fmt.Sprint(i), Account: "a", Hash: [32]byte{byte(i)}, CreatedAt: time.Unix(1_800_000_000+int64(i), 0),
		}
		if err := s.CreateKey(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
	keys, err := s.ListKeys(t.Context(), "a")
	if err != nil || len(keys) != n {
		t.Fatalf("got %d keys (%v), want %d", len(keys), err, n)
	}
	for i, k := range keys {
		if k.ID != fmt.Sprint(i) {
			t.Fatalf("place %d: got key %s", i, k.ID)
		}
	}
}

// TestKeysOfManyAccounts has no partition that the keys of all accounts are in: those of
// one would slow down the calls of all.
func TestKeysOfManyAccounts(t *testing.T) {
	t.Parallel()
	b := openTable(t)
	const accounts = 5
	for i := range accounts {
		k := lipsync.Key{ID: fmt.Sprint("k", i), Account: fmt.Sprint("a", i), Hash: [32]byte{byte(i)}}
		if err := b.CreateKey(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
	partitions := make(map[string]int)
	b.rewrite(t, func(i item) []item {
		partitions[textOf(i["pk"])]++
		return []item{i}
	})
	for partition, items := range partitions {
		if items > 1 {
			t.Errorf("%d items in partition %s, want one", items, partition)
		}
	}
	keys, err := b.ListKeys(t.Context(), "a3")
	if err != nil || len(keys) != 1 || keys[0].ID != "k3" {
		t.Errorf("got %v (%v), want k3", keys, err)
	}
}
