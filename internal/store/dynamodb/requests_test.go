package dynamodb_test

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb"
	"lipsync/internal/test/lipsynctest"
)

// TestLongPage reads a page of three buckets, with requests of more than 1 MB in total.
func TestLongPage(t *testing.T) {
	t.Parallel()
	const n = 130
	var w wire
	s := openWire(t, &w)
	if err := s.Keys.Create(t.Context(), lipsync.Key{ID: "k", Account: "a"}); err != nil {
		t.Fatal(err)
	}
	url := "https://example.com/" + strings.Repeat("x", 8000)
	for i := range n {
		r := lipsync.Request{
			ID: fmt.Sprint(i + 1), Account: "a", KeyID: "k", CreatedAt: time.Unix(1_800_000_000, 0),
			Video: lipsync.Input{URL: url}, Audio: lipsync.Input{URL: url},
		}
		if _, _, err := s.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{}); err != nil {
			t.Fatal(err)
		}
	}
	w.take()
	list, _, err := s.Requests.List(t.Context(), "a", "", 0, 100)
	if err != nil || len(list) != 100 {
		t.Fatalf("got %d requests (%v), want %d", len(list), err, n)
	}
	if got := fmt.Sprint(w.take()); got != "[BatchGetItem BatchGetItem BatchGetItem]" {
		t.Errorf("got the calls %s, want its end, its buckets and its requests", got)
	}
	for i, r := range list {
		if want := fmt.Sprint(n - i); r.ID != want {
			t.Fatalf("place %d: got request %s, want %s", i, r.ID, want)
		}
	}
}

// TestByStatusReadsItsPage finds the oldest of many requests of a reference id, the only one with
// its state.
func TestByStatusReadsItsPage(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	var w wire
	s := openWire(t, &w)
	for i := range 20 {
		r := lipsync.Request{ID: fmt.Sprint(i), Account: "a", ReferenceID: "x", Status: lipsync.Queued, CreatedAt: now}
		if _, _, err := s.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := lipsynctest.Cancel(t.Context(), s.Leases, "0", now); err != nil {
		t.Fatal(err)
	}
	w.take()
	got, _, err := s.Requests.ListByStatus(t.Context(), lipsync.StatusQuery{Account: "a", Status: lipsync.Canceled, ReferenceID: "x", Limit: 2, Count: 2})
	if err != nil || len(got) != 1 || got[0].ID != "0" {
		t.Errorf("got %v (%v), want request 0", got, err)
	}
	if got := fmt.Sprint(w.take()); got != "[Query BatchGetItem]" {
		t.Errorf("got the calls %s, want two", got)
	}
}

// TestReplayOfWinner makes two creates at once, with one idempotency key and an API key that has one
// use left. For the second, DynamoDB reports only that the API key is used up; its answer must still
// be a replay.
func TestReplayOfWinner(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	idem := &lipsync.Idempotency{Key: "i", ExpiresAt: now.Add(time.Hour)}
	create := func(s *dynamodb.Store, id string) (lipsync.Request, bool, error) {
		return s.Requests.Create(t.Context(), lipsync.Request{ID: id, Account: "a", KeyID: "k", CreatedAt: now}, nil, idem, lipsync.Limits{})
	}
	var w wire
	s := openWire(t, &w)
	if err := s.Keys.Create(t.Context(), lipsync.Key{ID: "k", Account: "a", Limit: 1}); err != nil {
		t.Fatal(err)
	}
	first := true
	w.spoil = func(_ int, operation string) fault {
		if operation != "TransactWriteItems" || !first {
			return nil
		}
		first = false
		return func(r *http.Request) (*http.Response, error) {
			if _, _, err := create(s, "winner"); err != nil {
				return nil, err
			}
			return canceled("ConditionalCheckFailed")(r)
		}
	}
	r, replayed, err := create(s, "later")
	if err != nil || !replayed || r.ID != "winner" {
		t.Errorf("got %v, replayed %t (%v), want the winner's", r, replayed, err)
	}
}

// TestLongUploadID asks for ids that are too long for a key of the table.
func TestLongUploadID(t *testing.T) {
	s := open(t)
	for _, id := range []string{"", strings.Repeat("x", 8192), "\xff"} {
		if _, err := s.Uploads.ByID(t.Context(), id); failure.CodeOf(err) != failure.NotFound {
			t.Errorf("%.9q: got %v, want code %q", id, err, failure.NotFound)
		}
	}
}

// TestClaimAgain claims with a token that already holds the request, as a worker does whose first
// answer was lost.
func TestClaimAgain(t *testing.T) {
	now := time.Unix(1_800_000_000, 0).UTC()
	s := open(t)
	createAll(t, s, 1)
	first, err := s.Leases.Claim(t.Context(), "", "w", now, time.Minute, lipsync.Choice{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Leases.Claim(t.Context(), first.ID, "w", now, time.Minute, lipsync.Choice{})
	if err != nil || !reflect.DeepEqual(again, first) {
		t.Errorf("got %v (%v), want %v", again, err, first)
	}
}

// TestSameID creates a request whose id is taken.
func TestSameID(t *testing.T) {
	s := open(t)
	createAll(t, s, 1)
	list, _, err := s.Requests.List(t.Context(), "a", "", 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Requests.Create(t.Context(), list[0], nil, nil, lipsync.Limits{}); failure.CodeOf(err) != failure.Internal {
		t.Errorf("got %v, want an internal error", err)
	}
	if keys, err := s.Keys.List(t.Context(), "a"); err != nil || keys[0].Used != 1 {
		t.Errorf("got %v (%v), want one use", keys, err)
	}
}
