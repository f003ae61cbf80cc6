package callers_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/callers"
	"lipsync/internal/store/dynamodb/table"
	simulated "lipsync/internal/test/simulate/table"
)

// TestManyKeys lists more keys than one call can read.
func TestManyKeys(t *testing.T) {
	t.Parallel()
	const n = 101
	s := callers.Keys{Table: open()}
	for i := range n {
		k := lipsync.Key{
			ID: fmt.Sprint(i), Account: "a", Hash: [32]byte{byte(i)}, CreatedAt: time.Unix(1_800_000_000+int64(i), 0),
		}
		if err := s.Create(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
	keys, err := s.List(t.Context(), "a")
	if err != nil || len(keys) != n {
		t.Fatalf("got %d keys (%v), want %d", len(keys), err, n)
	}
	for i, k := range keys {
		if k.ID != fmt.Sprint(i) {
			t.Fatalf("place %d: got key %s", i, k.ID)
		}
	}
}

// TestKeysOfManyAccounts checks that no partition has the keys of all accounts, since the calls of
// one account would then slow down those of all others.
func TestKeysOfManyAccounts(t *testing.T) {
	t.Parallel()
	simulator := simulated.New(simulated.Limits{})
	s := callers.Keys{Table: table.On(simulator, "t")}
	const accounts = 5
	for i := range accounts {
		k := lipsync.Key{ID: fmt.Sprint("k", i), Account: fmt.Sprint("a", i), Hash: [32]byte{byte(i)}}
		if err := s.Create(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
	all, err := simulator.Scan(t.Context(), nil)
	if err != nil || len(all.Items) != 3*accounts {
		t.Fatalf("got %d items (%v), want 3 for each of %d keys", len(all.Items), err, accounts)
	}
	partitions := make(map[string]int)
	for _, i := range all.Items {
		partitions[i[table.PartitionKey].(*types.AttributeValueMemberS).Value]++
	}
	for partition, items := range partitions {
		if items > 1 {
			t.Errorf("%d items in partition %s, want one", items, partition)
		}
	}
	keys, err := s.List(t.Context(), "a3")
	if err != nil || len(keys) != 1 || keys[0].ID != "k3" {
		t.Errorf("got %v (%v), want k3", keys, err)
	}
}
