package callers_test

import (
	"fmt"
	"testing"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/callers"
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
