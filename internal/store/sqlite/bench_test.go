package sqlite_test

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/sqlite"
	"lipsync/internal/test/lipsynctest"
)

const many = 100_000

// filled returns a store in which one account has made n requests, every tenth
// with the same reference id.
func filled(b *testing.B, n int) *sqlite.Store {
	store := open(b, filepath.Join(b.TempDir(), "bench.db"))
	key := lipsync.Key{ID: "k", Account: "a", Name: "bench", CreatedAt: time.Unix(1, 0)}
	if err := store.Keys.Create(b.Context(), key); err != nil {
		b.Fatal(err)
	}
	for i := range n {
		if err := create(b, store, []string{"", "ref"}[i%10/9]); err != nil {
			b.Fatal(err)
		}
	}
	return store
}

func create(b *testing.B, store *sqlite.Store, referenceID string) error {
	_, _, err := store.Requests.Create(b.Context(), lipsync.Request{
		ID: uuid.NewString(), Account: "a", KeyID: "k", ReferenceID: referenceID, Status: lipsync.Queued,
		Video: lipsync.Input{URL: "https://example.com/video.mp4"}, Audio: lipsync.Input{URL: "https://example.com/audio.wav"},
		CreatedAt: time.Unix(1_800_000_000, 0),
	}, nil, nil, lipsync.Limits{})
	return err
}

// BenchmarkPage reads pages of 20 near both ends of 100,000 requests.
func BenchmarkPage(b *testing.B) {
	store := filled(b, many)
	for _, c := range []struct {
		reference string
		offset    int64
	}{{"", 0}, {"", many / 2}, {"", many - 20}, {"", many}, {"ref", 0}, {"ref", many/10 - 20}} {
		b.Run(fmt.Sprintf("reference=%s/offset=%d", c.reference, c.offset), func(b *testing.B) {
			for b.Loop() {
				if _, _, err := store.Requests.List(b.Context(), "a", c.reference, c.offset, 20); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkByStatus reads pages of 20 of 100,000 queued requests, and pages of failed requests, of
// which none exist.
func BenchmarkByStatus(b *testing.B) {
	store := filled(b, many)
	for _, status := range []lipsync.Status{lipsync.Queued, lipsync.Failed} {
		for _, reference := range []string{"", "ref"} {
			b.Run(fmt.Sprintf("status=%s/reference=%s", status, reference), func(b *testing.B) {
				for b.Loop() {
					if _, _, err := store.Requests.ListByStatus(b.Context(), lipsync.StatusQuery{Account: "a", Status: status, ReferenceID: reference, Limit: 20, Count: 20}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkCreate creates requests in 16 goroutines.
func BenchmarkCreate(b *testing.B) {
	store := filled(b, 0)
	const clients = 16
	var left atomic.Int64
	left.Store(int64(b.N))
	b.ResetTimer()
	done := make(chan error, clients)
	for range clients {
		go func() {
			for left.Add(-1) >= 0 {
				if err := create(b, store, "ref"); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range clients {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "creates/s")
}

// BenchmarkClaim claims and releases requests. One account has 100,000 queued requests, and some
// others have one each.
func BenchmarkClaim(b *testing.B) {
	store := filled(b, many)
	others := 0
	for _, accounts := range []int{1, 10, 100, 1000} {
		for ; others < accounts-1; others++ {
			r := lipsync.Request{ID: uuid.NewString(), Account: fmt.Sprint("b", others), Status: lipsync.Queued, CreatedAt: time.Unix(1_800_000_000, 0)}
			if _, _, err := store.Requests.Create(b.Context(), r, nil, nil, lipsync.Limits{}); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprint("accounts=", accounts), func(b *testing.B) {
			for b.Loop() {
				r, err := store.Leases.Claim(b.Context(), "", "w", time.Unix(1_800_000_001, 0), time.Minute, lipsync.Choice{})
				if err == nil {
					err = lipsynctest.Release(b.Context(), store.Leases, r.ID, "w")
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
