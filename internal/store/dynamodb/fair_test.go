package dynamodb_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
	"lipsync/internal/store/dynamodb"
	"lipsync/internal/test/lipsynctest"
)

// crowdShard creates n requests of an account, a second apart, all in one shard. A test that spread
// its requests over all shards would need eight times as many.
func crowdShard(t *testing.T, s *dynamodb.Store, account string, n int, from time.Time) (ids []string) {
	t.Helper()
	for i := 0; len(ids) < n; i++ {
		id := fmt.Sprintf("%s-%d", account, i)
		h := fnv.New32a()
		h.Write([]byte(id))
		if h.Sum32()%8 != 0 {
			continue
		}
		createOne(t, s, account, id, from.Add(time.Duration(len(ids))*time.Second))
		ids = append(ids, id)
	}
	return ids
}

// TestClaimBehindFullShard claims younger requests of several accounts while two accounts have
// more in one shard than a claim reads at once.
func TestClaimBehindFullShard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Unix(1_800_000_000, 0).UTC()
		w := wire{takes: call}
		s := openWire(t, &w)
		a := crowdShard(t, s, "a", 130, now.Add(-time.Hour))
		b := crowdShard(t, s, "b", 120, now.Add(-time.Hour/2))
		var few []string
		for i := range 6 {
			few = append(few, crowdShard(t, s, fmt.Sprint("few", i), 1, now.Add(time.Duration(i-100)*time.Second))...)
		}
		for i, want := range append([]string{a[0], b[0]}, append(few, a[1], b[1], a[2], b[2])...) {
			w.take()
			n := roundTrips(func() {
				r, err := s.Leases.Claim(t.Context(), "", fmt.Sprint("w", i), now.Add(time.Duration(i)*time.Millisecond), time.Hour, lipsync.Choice{})
				if err != nil || r.ID != want {
					t.Errorf("claim %d: got %s (%v), want %s", i, r.ID, err, want)
				}
			})
			if calls := w.take(); n > 7+4 || len(calls) > 16+8+4 {
				t.Errorf("claim %d: got %d round trips of %d calls, want at most 11 of 28", i, n, len(calls))
			}
		}
	})
}

// TestClaimReadsLittle has many waiting requests of many accounts in one shard, and many held
// ones. A claim must read only some of both, so that the shard allows many claims a second.
func TestClaimReadsLittle(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0).UTC()
	s, read := openCounted(t)
	for i := range 8 {
		account := fmt.Sprint("account-", i)
		for _, id := range crowdShard(t, s, account, 60, now.Add(-time.Hour))[50:] {
			if _, err := s.Leases.Claim(t.Context(), id, "w", now, time.Hour, lipsync.Choice{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	read.Store(0)
	if _, err := s.Leases.Claim(t.Context(), "", "next", now, time.Hour, lipsync.Choice{}); err != nil {
		t.Error(err)
	}
	// Five calls of 25 entries of waiting requests, one of 25 of held ones, and the items of the request.
	if n := read.Load(); n < 100 || n > 6*25+5 {
		t.Errorf("%d items were read, want 155 at most", n)
	}
}

// openCounted opens a store that counts the items that its queries find.
func openCounted(t *testing.T) (*dynamodb.Store, *atomic.Int32) {
	read := new(atomic.Int32)
	w := wire{spoil: func(_ int, operation string) fault {
		if operation != "Query" {
			return nil
		}
		return func(r *http.Request) (*http.Response, error) { return counted(r, read) }
	}}
	return openWire(t, &w), read
}

// TestOpenReadsLittle has many more waiting requests of one account in a shard than are asked for.
// The oldest request of another account must be found too, without reading everything.
func TestOpenReadsLittle(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0).UTC()
	s, read := openCounted(t)
	many := crowdShard(t, s, "many", 900, now.Add(-time.Hour))
	few := crowdShard(t, s, "few", 2, now.Add(-2*time.Hour))
	read.Store(0)
	open, err := s.Leases.Open(t.Context(), now, 5)
	var got []string
	for _, r := range open {
		got = append(got, r.ID)
	}
	if want := append(few, many[:3]...); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q (%v), want %q", got, err, want)
	}
	if n := read.Load(); n > 300 {
		t.Errorf("%d items were read, want some 100 of each account at most", n)
	}
	read.Store(0)
	if n, _, err := s.Queue.Waiting(t.Context(), now, now, 7); n[lipsync.Small] != 7 || err != nil {
		t.Errorf("got %d that wait (%v), want 7", n[lipsync.Small], err)
	}
	if n := read.Load(); n > 2*7 { // the waiting and the postponed ones
		t.Errorf("%d items were counted, want no more than the limit", n)
	}
}

// TestStatusPageReadsLittle lists pages of one status that has more requests than are counted:
// spread over all shards, and all in one shard.
func TestStatusPageReadsLittle(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0).UTC()
	s, read := openCounted(t)
	reader := lipsynctest.NewService(t, base.Config{}, base.Ports{
		Store: s.Store,
		Now:   func() time.Time { return now },
	})
	all := map[string][]string{
		"even": createWaiting(t, s, "even", 1600, now.Add(-time.Hour)),
		"one":  crowdShard(t, s, "one", 1040, now.Add(-time.Hour)),
	}
	for _, c := range []struct {
		account string
		offset  int64
		most    int32 // most items that may be read
	}{
		{"even", 0, 1300},
		{"even", 980, 1300},
		{"even", 1 << 50, 1300},
		{"one", 980, 1000},
	} {
		want := slices.Clone(all[c.account])
		slices.Reverse(want)
		want = want[:service.MostByStatus]
		want = want[min(c.offset, service.MostByStatus):]
		read.Store(0)
		page, err := reader.RequestPage(t.Context(), lipsync.Caller{Account: c.account}, service.ListQuery{Status: lipsync.Queued, Offset: c.offset, Limit: 20})
		var got []string
		for _, r := range page.Requests {
			got = append(got, r.ID)
		}
		if want := want[:min(20, len(want))]; err != nil || page.Total != service.MostByStatus || !slices.Equal(got, want) {
			t.Errorf("%s, offset %d: got %q of %d (%v), want %q", c.account, c.offset, got, page.Total, err, want)
		}
		if n := read.Load(); n < service.MostByStatus || n > c.most {
			t.Errorf("%s, offset %d: %d items were read, want at most %d", c.account, c.offset, n, c.most)
		}
	}
}

// counted sends a query and adds the number of items found to the sum.
func counted(r *http.Request, sum *atomic.Int32) (*http.Response, error) {
	response, err := send(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	response.Body = io.NopCloser(bytes.NewReader(body))
	var answer struct{ Count int32 }
	err = errors.Join(err, json.Unmarshal(body, &answer))
	sum.Add(answer.Count)
	return response, err
}

// TestUpkeepQueuesWhatIsDue has more postponed requests due than a claim reads, and one of another
// account that has been due longest. A claim must find that one after the upkeep.
func TestUpkeepQueuesWhatIsDue(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0).UTC()
	s := open(t)
	many := crowdShard(t, s, "a", 105, now.Add(-time.Hour))
	one := crowdShard(t, s, "b", 1, now)[0]
	for i, id := range append([]string{one}, many...) {
		r, err := s.Leases.Claim(t.Context(), id, "w", now, time.Minute, lipsync.Choice{})
		if err == nil {
			err = lipsynctest.Postpone(t.Context(), s.Leases, r, now.Add(time.Duration(i+1)*time.Second))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	later := now.Add(time.Hour)
	for range 2 { // doing it again changes nothing
		if err := s.Leases.Upkeep(t.Context(), later); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []string{many[0], one, many[1], many[2]} {
		r, err := s.Leases.Claim(t.Context(), "", fmt.Sprint("next ", i), later, time.Minute, lipsync.Choice{})
		if err != nil || r.ID != want || r.Claims != 2 || r.Delays != 0 {
			t.Errorf("claim %d: got %+v (%v), want %s", i, r, err, want)
		}
	}
}

// TestUpkeepQueuesWhatIsDead has more ended leases than a claim reads. Their requests must be
// claimable after the upkeep. A request whose lease is renewed after all must not be claimable.
func TestUpkeepQueuesWhatIsDead(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0).UTC()
	s := open(t)
	all := crowdShard(t, s, "a", 102, now.Add(-time.Hour))
	for _, id := range all {
		if _, err := s.Leases.Claim(t.Context(), id, "dead "+id, now, time.Minute, lipsync.Choice{}); err != nil {
			t.Fatal(err)
		}
	}
	later := now.Add(time.Hour)
	if err := s.Leases.Renew(t.Context(), all[1], "dead "+all[1], later.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := s.Leases.Upkeep(t.Context(), later); err != nil {
		t.Fatal(err)
	}
	if err := s.Leases.Renew(t.Context(), all[2], "dead "+all[2], later.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := s.Leases.Report(t.Context(), all[0], "dead "+all[0], lipsync.Progress{Percent: 3}); err != nil {
		t.Errorf("got %v, want the lease renewed", err)
	}
	for i, want := range []string{all[0], all[3], all[4]} {
		r, err := s.Leases.Claim(t.Context(), "", fmt.Sprint("next ", i), later, time.Minute, lipsync.Choice{})
		if err != nil || r.ID != want || r.Claims != 2 {
			t.Errorf("claim %d: got %+v (%v), want %s", i, r, err, want)
		}
	}
	if err := s.Leases.Renew(t.Context(), all[0], "dead "+all[0], later.Add(time.Hour)); failure.CodeOf(err) != failure.Conflict {
		t.Errorf("got %v, want that it was lost", err)
	}
}

// TestManyClaim runs many workers that claim at once. Each must get one request, and none may try
// all of them.
func TestManyClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 60
		table := slowTable()
		s := dynamodb.New(table.Config(), "t")
		now := time.Unix(1_800_000_000, 0).UTC()
		createWaiting(t, s, "a", n, now.Add(-time.Hour))
		before := table.Conflicts()
		got := make(chan string, n)
		start := time.Now()
		for i := range n {
			go func() {
				r, err := s.Leases.Claim(t.Context(), "", fmt.Sprint("w", i), now, time.Minute, lipsync.Choice{})
				if err != nil {
					t.Error(err)
				}
				got <- r.ID
			}()
		}
		ids := make(map[string]bool)
		for range n {
			ids[<-got] = true
		}
		took := time.Since(start)
		if len(ids) != n || took > 2*time.Second {
			t.Errorf("got %d requests in %v, want %d in 2 s", len(ids), took, n)
		}
		t.Logf("%d claims at once: %v, %d conflicts", n, took, table.Conflicts()-before)
	})
}
