package dynamodb_test

import (
	"fmt"
	"testing"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb"
	simulated "lipsync/internal/test/simulate/table"
)

// TestKeysOfManyAccounts checks that no partition has the keys of all accounts, since the calls of
// one account would then slow down those of all others.
func TestKeysOfManyAccounts(t *testing.T) {
	t.Parallel()
	b := openTable(t)
	const accounts = 5
	for i := range accounts {
		k := lipsync.Key{ID: fmt.Sprint("k", i), Account: fmt.Sprint("a", i), Hash: [32]byte{byte(i)}}
		if err := b.Keys.Create(t.Context(), k); err != nil {
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
	keys, err := b.Keys.List(t.Context(), "a3")
	if err != nil || len(keys) != 1 || keys[0].ID != "k3" {
		t.Errorf("got %v (%v), want k3", keys, err)
	}
}

// TestCreateByKey checks that a create reads nothing from the pointers to all keys, which all accounts share.
func TestCreateByKey(t *testing.T) {
	t.Parallel()
	table := simulated.New(simulated.Limits{})
	s := dynamodb.On(table, "t")
	err := s.Keys.Create(t.Context(), lipsync.Key{ID: "k", Account: "a", Hash: [32]byte{1}})
	if err == nil {
		_, _, err = s.Requests.Create(t.Context(), lipsync.Request{ID: "r", Account: "a", KeyID: "k", Status: lipsync.Queued}, nil, nil, lipsync.Limits{Open: 1000})
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range table.Partitions() {
		if p.Kind == "keys" {
			t.Errorf("%v read units of the partition %s", p.Reads, p.Kind)
		}
	}
}
