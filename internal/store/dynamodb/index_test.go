package dynamodb_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb"
	"lipsync/internal/test/lipsynctest"
)

// staleIndex is a wire that repeats the first answer of each partition of the index.
type staleIndex struct {
	wire
	mu     sync.Mutex
	frozen map[string][]byte
}

func openStaleIndex(t *testing.T) (*dynamodb.Store, *staleIndex) {
	t.Helper()
	l := &staleIndex{frozen: make(map[string][]byte)}
	l.spoil = func(_ int, operation string) fault {
		if operation != "Query" {
			return nil
		}
		return l.repeat
	}
	return openWire(t, &l.wire), l
}

// repeat gives the partition's first answer.
func (l *staleIndex) repeat(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var asked struct {
		IndexName                 string
		ExpressionAttributeValues map[string]struct{ S string }
	}
	if err := json.Unmarshal(body, &asked); err != nil || asked.IndexName == "" {
		return send(r)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	partition := asked.ExpressionAttributeValues[":open"].S
	response, err := send(r)
	if err != nil {
		return nil, err
	}
	if l.frozen[partition] == nil {
		l.frozen[partition], err = io.ReadAll(response.Body)
	}
	response.Body = io.NopCloser(bytes.NewReader(l.frozen[partition]))
	return response, err
}

// TestLateIndex claims a request that waits according to the index, but may be held, released or
// final by now.
func TestLateIndex(t *testing.T) {
	now := time.Unix(1_800_000_000, 0).UTC()
	for _, c := range []struct {
		name   string
		became func(s *dynamodb.Store, id string) error
		code   failure.Code
		claims int // including ours
	}{
		{"nothing new", func(*dynamodb.Store, string) error { return nil }, "", 1},
		{"held", func(s *dynamodb.Store, id string) error { return claim(t, s, id, now) }, failure.NotFound, 1},
		{"given back", func(s *dynamodb.Store, id string) error {
			if err := claim(t, s, id, now); err != nil {
				return err
			}
			return lipsynctest.Release(t.Context(), s.Leases, id, "other")
		}, "", 2},
		{"final", func(s *dynamodb.Store, id string) error {
			if err := claim(t, s, id, now); err != nil {
				return err
			}
			return lipsynctest.Finish(t.Context(), s.Leases, id, "other", now, lipsync.Outcome{Output: "o"})
		}, failure.NotFound, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, l := openStaleIndex(t)
			createAll(t, s, 1)
			open, err := s.Leases.Open(t.Context(), now, 10)
			if err != nil || len(open) != 1 || len(l.frozen) == 0 {
				t.Fatalf("got %v (%v), want one request", open, err)
			}
			if err := c.became(s, open[0].ID); err != nil {
				t.Fatal(err)
			}
			_, err = s.Leases.Claim(t.Context(), "", "ours", now, time.Minute, lipsync.Choice{})
			if got := failure.CodeOf(err); got != c.code {
				t.Errorf("got code %q (%v), want %q", got, err, c.code)
			}
			if r, err := s.Requests.ByID(t.Context(), open[0].ID); err != nil || r.Claims != c.claims {
				t.Errorf("got %d claims (%v), want %d", r.Claims, err, c.claims)
			}
		})
	}
}

func claim(t *testing.T, s *dynamodb.Store, id string, now time.Time) error {
	_, err := s.Leases.Claim(t.Context(), id, "other", now, time.Minute, lipsync.Choice{})
	return err
}

// TestLateUploads lists expired uploads while the index still has one that got more time and one
// that was deleted.
func TestLateUploads(t *testing.T) {
	now := time.Unix(1_800_000_000, 0).UTC()
	s, l := openStaleIndex(t)
	for _, id := range []string{"expired", "used", "deleted"} {
		if err := s.Uploads.Create(t.Context(), lipsync.Upload{ID: id, ExpiresAt: now.Add(-time.Second)}, lipsync.Limits{}); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := s.Uploads.Expired(t.Context(), now, lipsync.Upload{}, 10); err != nil || len(all) != 3 || len(l.frozen) == 0 {
		t.Fatalf("got %v (%v), want all three", all, err)
	}
	if err := s.Keys.Create(t.Context(), lipsync.Key{ID: "k", Account: "a"}); err != nil {
		t.Fatal(err)
	}
	r := lipsync.Request{ID: "r", Account: "a", KeyID: "k", CreatedAt: now}
	if _, _, err := s.Requests.Create(t.Context(), r, []string{"used"}, nil, lipsync.Limits{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Uploads.Delete(t.Context(), lipsync.Upload{ID: "deleted", Account: "a"}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Uploads.Expired(t.Context(), now, lipsync.Upload{}, 10)
	if err != nil || len(got) != 1 || got[0].ID != "expired" {
		t.Errorf("got %v (%v), want the one that expired", got, err)
	}
}

// TestLateStatus lists requests by status while the index still has an old status of the newest.
// Every page except the last must be full.
func TestLateStatus(t *testing.T) {
	const all, changed = 60, 20
	b := openTable(t)
	createAll(t, b.Store, all)
	left := changed
	b.rewrite(t, func(i item) []item {
		if i["status"] != nil && left > 0 {
			left--
			i["status"], i["openAt"] = text("processing"), text("9"+textOf(i["openAt"])[1:]) // the newest
		}
		return []item{i}
	})
	for limit, want := range map[int]int{1: 1, 21: 21, all - changed: all - changed, all: all - changed} {
		counted, _, err := b.Requests.ListByStatus(t.Context(), lipsync.StatusQuery{Account: "a", Status: lipsync.Queued, Limit: limit, Count: 1000})
		if err != nil || len(counted) != want {
			t.Errorf("limit %d: got %d requests (%v), want %d", limit, len(counted), err, want)
		}
		page, _, err := b.Requests.ListFrom(t.Context(), lipsync.PlaceQuery{Account: "a", Status: lipsync.Queued, Limit: limit})
		if err != nil || len(page) != want {
			t.Errorf("limit %d: got %d requests from the begin (%v), want %d", limit, len(page), err, want)
		}
	}
}
