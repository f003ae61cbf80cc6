package dynamodb_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb"
)

// TestPagesOfManyBuckets reads every page of a list of several buckets. Each page must be right, and take at most four round trips.
func TestPagesOfManyBuckets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 160
		w := wire{takes: call}
		b := openTableBehind(t, &w)
		now := time.Unix(1_800_000_000, 0).UTC()
		var newest []string
		for i := range n {
			r := lipsync.Request{
				ID: fmt.Sprint(i), Account: "a", ReferenceID: "x", Status: lipsync.Queued,
				CreatedAt: now.Add(time.Duration(i) * time.Second),
			}
			if _, _, err := b.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{}); err != nil {
				t.Fatal(err)
			}
			newest = append([]string{r.ID}, newest...)
		}
		for _, limit := range []int{1, 20, 100} {
			for offset := 0; offset < len(newest)+limit; offset += 1 + limit/3 {
				var page []lipsync.Request
				var total int64
				var err error
				trips := roundTrips(func() { page, total, err = b.Requests.List(t.Context(), "a", "", int64(offset), limit) })
				want := newest[min(offset, len(newest)):min(offset+limit, len(newest))]
				got := []string{}
				for _, r := range page {
					got = append(got, r.ID)
				}
				if err != nil || total != n || fmt.Sprint(got) != fmt.Sprint(want) || trips > 4 {
					t.Errorf("offset %d, limit %d: got %v of %d in %d round trips (%v), want %v in 4", offset, limit, got, total, trips, err, want)
				}
			}
		}
		if r, err := b.Requests.ByReference(t.Context(), "a", "x"); err != nil || r.ID != newest[0] {
			t.Errorf("got %s (%v), want the newest", r.ID, err)
		}
	})
}

// TestLateInLists stops a create after its transaction, and claims its request when the list has many
// more buckets. However many they are, the claim must add the request in few calls and writes.
func TestLateInLists(t *testing.T) {
	now := time.Unix(1_800_000_000, 0).UTC()
	var w wire
	s := openWire(t, &w)
	create := func(id string) error {
		r := lipsync.Request{ID: id, Account: "a", Status: lipsync.Queued, CreatedAt: now}
		_, _, err := s.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{})
		return err
	}
	w.spoil = func(_ int, operation string) fault {
		if operation == "UpdateItem" {
			return refused(400, "ValidationException")
		}
		return nil
	}
	if err := create("late"); err == nil {
		t.Fatal("the create succeeded")
	}
	w.spoil = nil
	const others = 620 // 12 buckets and a part of the next
	for i := range others {
		if err := create(fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	w.take()
	if _, err := s.Leases.Claim(t.Context(), "late", "w", now, time.Minute, lipsync.Choice{}); err != nil {
		t.Fatal(err)
	}
	// The transaction of the claim writes 3 items, and its use of the day 1. Two more are the appends to the
	// bucket that was the last, which is refused, and to the one that is the last now.
	written := w.written
	if calls := w.take(); len(calls) > 8 || written > 6 {
		t.Errorf("the claim made the calls %v and wrote %d items, want at most 8 calls and 6 items", calls, written)
	}
	page, total, err := s.Requests.List(t.Context(), "a", "", 0, 1)
	if err != nil || total != others+1 || len(page) != 1 || page[0].ID != "late" {
		t.Errorf("got %v of %d (%v), want the late request first of %d", page, total, err, others+1)
	}
}

// TestCreatorDies stops creates after their transaction. The first claim or replay of such a request
// must add it to its lists.
func TestCreatorDies(t *testing.T) {
	now := time.Unix(1_800_000_000, 0).UTC()
	idem := &lipsync.Idempotency{Key: "i", ExpiresAt: now.Add(time.Hour)}
	for name, meet := range map[string]func(s *dynamodb.Store) error{
		"claim": func(s *dynamodb.Store) error {
			_, err := s.Leases.Claim(t.Context(), "", "w", now, time.Minute, lipsync.Choice{})
			return err
		},
		"claim by id": func(s *dynamodb.Store) error {
			_, err := s.Leases.Claim(t.Context(), "r", "w", now, time.Minute, lipsync.Choice{})
			return err
		},
		"replay": func(s *dynamodb.Store) error {
			_, replayed, err := s.Requests.Create(t.Context(), lipsync.Request{ID: "again", Account: "a", CreatedAt: now}, nil, idem, lipsync.Limits{})
			if !replayed {
				t.Error("got no replay")
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			var w wire
			s := openWire(t, &w)
			dead := false
			w.spoil = func(_ int, operation string) fault {
				if dead && operation == "UpdateItem" {
					return refused(400, "ValidationException")
				}
				dead = dead || operation == "TransactWriteItems"
				return nil
			}
			r := lipsync.Request{ID: "r", Account: "a", ReferenceID: "x", Status: lipsync.Queued, CreatedAt: now}
			if _, _, err := s.Requests.Create(t.Context(), r, nil, idem, lipsync.Limits{}); err == nil {
				t.Fatal("the create succeeded")
			}
			w.spoil = nil
			if _, total, err := s.Requests.List(t.Context(), "a", "", 0, 1); err != nil || total != 0 {
				t.Fatalf("got %d requests (%v), want none yet", total, err)
			}
			for range 2 {
				if err := meet(s); err != nil && failure.CodeOf(err) != failure.NotFound {
					t.Fatal(err)
				}
				for _, reference := range []string{"", "x"} {
					if page, total, err := s.Requests.List(t.Context(), "a", reference, 0, 2); err != nil || total != 1 || len(page) != 1 || page[0].ID != "r" {
						t.Errorf("reference %q: got %v of %d (%v), want the request once", reference, page, total, err)
					}
				}
			}
		})
	}
}
