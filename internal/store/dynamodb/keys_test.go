package dynamodb_test

import (
	"testing"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb"
	simulated "lipsync/internal/test/simulate/table"
)

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
