package dynamodb_test

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb"
	"lipsync/internal/test/lipsynctest"
)

// faults returns the faults that a call can meet, by operation; "" means any operation.
func faults() map[string]map[string]fault {
	return map[string]map[string]fault{
		"": {
			"throttled":   refused(http.StatusBadRequest, "ThrottlingException"),
			"over limits": refused(http.StatusBadRequest, "ProvisionedThroughputExceededException"),
			"failing":     refused(http.StatusInternalServerError, "InternalServerError"),
			"lost":        lost,
		},
		"TransactWriteItems": {
			"in progress":          refused(http.StatusBadRequest, "TransactionInProgressException"),
			"canceled, throttled":  canceled("ThrottlingError"),
			"canceled, over limit": canceled("ProvisionedThroughputExceeded"),
			"canceled, conflict":   canceled("TransactionConflict"),
		},
		"UpdateItem":   {"conflict": refused(http.StatusBadRequest, "TransactionConflictException")},
		"BatchGetItem": {"unprocessed": unprocessed},
	}
}

// TestFaults runs the lifecycle of a request many times, each time with one fault in one call, until
// each call has met each fault. The caller must get no error, and everything must be done exactly
// once.
func TestFaults(t *testing.T) {
	t.Parallel()
	var w wire
	want := runLifecycle(t, openWire(t, &w))
	calls := w.take()
	cases := 0
	for n, operation := range calls {
		for _, about := range []string{"", operation} {
			for name, f := range faults()[about] {
				cases++
				t.Run(fmt.Sprintf("%d %s %s", n, operation, name), func(t *testing.T) {
					t.Parallel()
					got := runLifecycle(t, openWire(t, &wire{spoil: func(i int, _ string) fault {
						if i == n {
							return f
						}
						return nil
					}}))
					if !reflect.DeepEqual(got, want) {
						t.Errorf("got %+v, want %+v", got, want)
					}
				})
			}
		}
	}
	t.Logf("%d calls, %d cases", len(calls), cases)
}

// lifecycle has the records and counts that are left at the end of runLifecycle.
type lifecycle struct {
	request, canceled lipsync.Request
	total             int64
	used              int64
	uploads           int
}

// runLifecycle takes a request with an upload, an idempotency key and a reference id from the creation
// of its key to completion, and another one until it is canceled. Each step must succeed.
func runLifecycle(t *testing.T, s *dynamodb.Store) lifecycle {
	t.Helper()
	now := time.Unix(1_800_000_000, 0).UTC()
	r := lipsync.Request{
		ID: "00000000-0000-4000-8000-000000000001", Account: "a", KeyID: "k", ReferenceID: "r",
		Status: lipsync.Queued, Video: lipsync.Input{Object: "uploads/u"}, CreatedAt: now,
	}
	doomed := lipsync.Request{
		ID: "00000000-0000-4000-8000-000000000002", Account: "a", KeyID: "k", ReferenceID: "doomed",
		Status: lipsync.Queued, CreatedAt: now,
	}
	idem := &lipsync.Idempotency{Key: "i", ExpiresAt: now.Add(time.Hour)}
	create := func(again bool) error {
		_, replayed, err := s.Requests.Create(t.Context(), r, []string{"u"}, idem, lipsync.Limits{})
		if err == nil && replayed != again {
			return fmt.Errorf("got replayed %t", replayed)
		}
		return err
	}
	claim := func(id, token string) error {
		_, err := s.Leases.Claim(t.Context(), id, token, now, time.Minute, lipsync.Choice{})
		return err
	}
	take := func() error {
		a, err := s.Rates.Take(t.Context(), "k", 10, now)
		if a.Refused {
			return fmt.Errorf("got %+v", a)
		}
		return err
	}
	for i, step := range []func() error{
		func() error {
			return s.Keys.Create(t.Context(), lipsync.Key{ID: "k", Account: "a", Limit: 2, CreatedAt: now})
		},
		func() error { return s.Keys.Touch(t.Context(), "k", now) },
		take, take,
		func() error {
			return s.Uploads.Create(t.Context(), lipsync.Upload{ID: "u", Account: "a", ExpiresAt: now}, lipsync.Limits{})
		},
		func() error { return create(false) },
		func() error { return create(true) },
		func() error {
			_, _, err := s.Requests.Create(t.Context(), doomed, nil, nil, lipsync.Limits{})
			return err
		},
		func() error {
			_, err := lipsynctest.Cancel(t.Context(), s.Leases, doomed.ID, now)
			return err
		},
		func() error { return claim(r.ID, "w1") },
		func() error { return s.Leases.Renew(t.Context(), r.ID, "w1", now.Add(time.Hour)) },
		func() error { return s.Leases.Report(t.Context(), r.ID, "w1", lipsync.Progress{Percent: 50}) },
		func() error { return lipsynctest.Release(t.Context(), s.Leases, r.ID, "w1") },
		func() error { return claim("", "w3") },
		func() error {
			return lipsynctest.Postpone(t.Context(), s.Leases, lipsync.Request{ID: r.ID, Lease: "w3", Attempts: 1, Delays: 1, UnreachableSince: now}, now)
		},
		func() error { return claim("", "w2") },
		func() error {
			return lipsynctest.Finish(t.Context(), s.Leases, r.ID, "w2", now, lipsync.Outcome{Output: "o"})
		},
		func() error { return s.Keys.Revoke(t.Context(), "a", "k", now) },
	} {
		if err := step(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
	return readLifecycle(t, s, now)
}

func readLifecycle(t *testing.T, s *dynamodb.Store, now time.Time) (l lifecycle) {
	t.Helper()
	list, total, err := s.Requests.List(t.Context(), "a", "r", 0, 10)
	if err != nil || len(list) != 1 {
		t.Fatalf("got %v (%v), want one request", list, err)
	}
	l.total = total
	if l.request, err = s.Requests.ByID(t.Context(), list[0].ID); err != nil {
		t.Fatal(err)
	}
	if l.canceled, err = s.Requests.ByReference(t.Context(), "a", "doomed"); err != nil {
		t.Fatal(err)
	}
	keys, err := s.Keys.List(t.Context(), "a")
	if err != nil || len(keys) != 1 {
		t.Fatalf("got %v (%v), want one key", keys, err)
	}
	l.used = keys[0].Used
	uploads, err := s.Uploads.Expired(t.Context(), now.Add(2*lipsync.Retention{}.InputLife()), lipsync.Upload{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	l.uploads = len(uploads)
	return l
}

// TestStorm creates requests while many calls meet faults. Only one call in eight does, since the
// store gives up after eight failed tries in a row, which must not happen here.
func TestStorm(t *testing.T) {
	t.Parallel()
	const n = 20
	for _, about := range []string{"", "TransactWriteItems"} {
		for name, f := range faults()[about] {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := openWire(t, &wire{spoil: func(i int, operation string) fault {
					if i%8 == 0 && (about == "" || about == operation) {
						return f
					}
					return nil
				}})
				createAll(t, s, n)
				keys, err := s.Keys.List(t.Context(), "a")
				if err != nil || keys[0].Used != n {
					t.Errorf("got keys %v (%v), want %d uses", keys, err, n)
				}
				list, total, err := s.Requests.List(t.Context(), "a", "", 0, n+1)
				if err != nil || total != n || len(list) != n {
					t.Errorf("got %d of %d requests (%v), want %d", len(list), total, err, n)
				}
			})
		}
	}
}

// createAll creates n requests of an account at once.
func createAll(t testing.TB, s *dynamodb.Store, n int) {
	t.Helper()
	if err := s.Keys.Create(t.Context(), lipsync.Key{ID: "k", Account: "a"}); err != nil {
		t.Fatal(err)
	}
	var clients sync.WaitGroup
	for range n {
		clients.Go(func() {
			r := lipsync.Request{
				ID: uuid.NewString(), Account: "a", KeyID: "k", Status: lipsync.Queued, CreatedAt: time.Unix(1_800_000_000, 0),
			}
			if _, _, err := s.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{}); err != nil {
				t.Error(err)
			}
		})
	}
	clients.Wait()
}

// TestThrottled checks that callers of a table that stays too busy are told when to come back.
func TestThrottled(t *testing.T) {
	for _, name := range []string{"ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded"} {
		synctest.Test(t, func(t *testing.T) {
			s := openWire(t, &wire{spoil: func(int, string) fault { return refused(http.StatusBadRequest, name) }})
			_, err := s.Keys.ByHash(t.Context(), [32]byte{})
			e, ok := errors.AsType[*failure.Error](err)
			if !ok || e.Code != failure.RateLimited || e.RetryAfter < time.Second || e.RetryAfter > 10*time.Second {
				t.Errorf("%s: got %v, want that the client comes back in 1 s to 10 s", name, err)
			}
		})
	}
}
