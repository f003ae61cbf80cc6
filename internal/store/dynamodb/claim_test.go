package dynamodb_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb"
	"lipsync/internal/test/lipsynctest"
)

// createWaiting creates n requests of an account without a key, a second apart.
func createWaiting(t *testing.T, s *dynamodb.Store, account string, n int, from time.Time) (ids []string) {
	t.Helper()
	for i := range n {
		id := fmt.Sprintf("%s-%04d", account, i)
		createOne(t, s, account, id, from.Add(time.Duration(i)*time.Second))
		ids = append(ids, id)
	}
	return ids
}

// createOne creates a request of an account without a key.
func createOne(t *testing.T, s *dynamodb.Store, account, id string, at time.Time) {
	t.Helper()
	r := lipsync.Request{ID: id, Account: account, Status: lipsync.Queued, CreatedAt: at}
	if _, _, err := s.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{}); err != nil {
		t.Fatal(err)
	}
}

// TestClaimBehindManyWaiting claims younger requests of two accounts while a third has more
// waiting than a claim reads. A claim takes few calls, no matter how many wait.
func TestClaimBehindManyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Unix(1_800_000_000, 0).UTC()
		w := wire{takes: call}
		s := openWire(t, &w)
		many := createWaiting(t, s, "a", 210, now.Add(-time.Hour))
		few := append(createWaiting(t, s, "b", 1, now.Add(-2*time.Minute)), createWaiting(t, s, "c", 2, now.Add(-time.Minute))...)
		for i, want := range []string{many[0], few[0], few[1], many[1], few[2], many[2]} {
			wantClaim(t, s, &w, fmt.Sprint("w", i), now, time.Minute, want)
		}
	})
}

// TestClaimBehindManyPostponed claims younger requests that wait while more postponed requests are
// due than a claim reads.
func TestClaimBehindManyPostponed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Unix(1_800_000_000, 0).UTC()
		w := wire{takes: call}
		s := openWire(t, &w)
		all := createWaiting(t, s, "a", 103, now.Add(-time.Hour))
		for _, id := range all[:101] {
			r, err := s.Leases.Claim(t.Context(), id, "w", now, time.Minute, lipsync.Choice{})
			if err == nil {
				err = lipsynctest.Postpone(t.Context(), s.Leases, r, now.Add(time.Hour))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		b := createWaiting(t, s, "b", 1, now)[0]
		for i, c := range []struct {
			at   time.Time
			want string
		}{{now, b}, {now, all[101]}, {now, all[102]}, {now.Add(time.Hour), all[0]}} {
			wantClaim(t, s, &w, fmt.Sprint("next ", i), c.at, 2*time.Hour, c.want)
		}
	})
}

// wantClaim claims the next request and checks its id. No matter how many requests wait, the claim
// must take few round trips and calls. For each shard it may make one call for the waiting requests
// and one for the held ones, and one more if one account fills the shard.
func wantClaim(t *testing.T, s *dynamodb.Store, w *wire, token string, at time.Time, lease time.Duration, want string) {
	t.Helper()
	w.take()
	n := roundTrips(func() {
		if r, err := s.Leases.Claim(t.Context(), "", token, at, lease, lipsync.Choice{}); err != nil || r.ID != want {
			t.Errorf("%s: got %s (%v), want %s", token, r.ID, err, want)
		}
	})
	if calls := w.take(); n > 7 || len(calls) > 16+8+8 || slices.Contains(calls, "Scan") {
		t.Errorf("%s: got %d round trips of the calls %v, want at most 7 of 32", token, n, calls)
	}
}

// TestLateEntry leaves the queue entry of a canceled request in the queue.
// Claims must skip the request and delete the entry.
func TestLateEntry(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0).UTC()
	table := openTable(t)
	ids := createWaiting(t, table.Store, "a", 12, now.Add(-time.Hour))
	left := table.get(t, "request/"+ids[0], "turn")
	if _, err := lipsynctest.Cancel(t.Context(), table.Leases, ids[0], now); err != nil {
		t.Fatal(err)
	}
	table.rewrite(t, func(i item) []item {
		if textOf(i["pk"]) == "request/"+ids[0] && textOf(i["sk"]) == "request" {
			return []item{i, left}
		}
		return []item{i}
	})
	for n, want := range ids[1:4] {
		if r, err := table.Leases.Claim(t.Context(), "", fmt.Sprint("w", n), now, time.Minute, lipsync.Choice{}); err != nil || r.ID != want {
			t.Errorf("got %s (%v), want %s", r.ID, err, want)
		}
	}
	if left := table.get(t, "request/"+ids[0], "turn"); left != nil {
		t.Errorf("got %v, want no entry", left)
	}
}

// TestClaimBesidesMuchPostponed postpones more requests than one answer holds. A claim must not read
// them before they are due, and must find each once it is.
func TestClaimBesidesMuchPostponed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Unix(1_800_000_000, 0).UTC()
		w := wire{takes: call}
		s := openWire(t, &w)
		for i, id := range createWaiting(t, s, "a", 101, now.Add(-time.Hour)) {
			r, err := s.Leases.Claim(t.Context(), id, "w", now, time.Minute, lipsync.Choice{})
			if err == nil {
				err = lipsynctest.Postpone(t.Context(), s.Leases, r, now.Add(time.Duration(200-i)*time.Minute)) // the oldest is due last
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		young := createWaiting(t, s, "b", 1, now)
		wantClaim(t, s, &w, "w", now, time.Minute, young[0])
		if err := lipsynctest.Finish(t.Context(), s.Leases, young[0], "w", now, lipsync.Outcome{Output: "o"}); err != nil {
			t.Fatal(err)
		}
		for i, id := range []string{"a-0100", "a-0099"} {
			at := now.Add(time.Duration(100+i) * time.Minute)
			if r, err := s.Leases.Claim(t.Context(), "", "w", at.Add(-time.Microsecond), time.Minute, lipsync.Choice{}); failure.CodeOf(err) != failure.NotFound {
				t.Errorf("before its time: got %s (%v)", r.ID, err)
			}
			if r, err := s.Leases.Claim(t.Context(), "", fmt.Sprint("w", i), at, 24*time.Hour, lipsync.Choice{}); err != nil || r.ID != id {
				t.Errorf("got %s (%v), want %s", r.ID, err, id)
			}
		}
	})
}

// TestMostOfManyHeld holds more requests than a survey sees. Soon after, none is claimed until some end. Claims that find nothing, or repeat an earlier
// one, hold none, nor do workers whose leases have ended.
func TestMostOfManyHeld(t *testing.T) {
	now := time.Unix(1_800_000_000, 0).UTC()
	s := openWire(t, &wire{})
	s.Queue.MostHeld = 260
	ids := createWaiting(t, s, "a", 340, now.Add(-time.Hour))
	for i, id := range ids[:s.Queue.MostHeld-2] {
		lease := time.Hour
		if i >= s.Queue.MostHeld-12 {
			lease = 5 * time.Second // of ten that die
		}
		if _, err := s.Leases.Claim(t.Context(), id, fmt.Sprint("w", i), now, lease, lipsync.Choice{}); err != nil {
			t.Fatal(err)
		}
	}
	claims := func(most int, token string) (n int) {
		for ; n < most; n++ {
			if _, err := s.Leases.Claim(t.Context(), "", fmt.Sprint(token, n), now, time.Hour, lipsync.Choice{}); failure.CodeOf(err) == failure.NotFound {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		return n
	}
	want := func(when, token string, most, want int) {
		t.Helper()
		if got := claims(most, token); got != want {
			t.Errorf("%s: got %d claims, want %d", when, got, want)
		}
	}
	want("at first", "first", 1, 1)
	for range 3 {
		if r, err := s.Leases.Claim(t.Context(), "", "none", now, time.Hour, lipsync.Choice{Except: []string{"a"}}); failure.CodeOf(err) != failure.NotFound {
			t.Errorf("got %s (%v), want none", r.ID, err)
		}
		if _, err := s.Leases.Claim(t.Context(), ids[0], "w0", now, time.Hour, lipsync.Choice{}); err != nil {
			t.Errorf("again: %v", err)
		}
	}
	want("after claims that hold no more", "second", 5, 1)
	now = now.Add(2 * time.Second)
	want("two seconds later", "third", 5, 0)
	for n := range 3 {
		if _, err := s.Leases.Change(t.Context(), ids[n], func(r lipsync.Request) (lipsync.Request, error) { return r.Released(fmt.Sprint("w", n)) }); err != nil {
			t.Fatal(err)
		}
	}
	now = now.Add(2 * time.Second)
	want("after three ended", "fourth", 5, 3)
	now = now.Add(2 * time.Second)
	want("after ten died", "fifth", 15, 10)
}

// TestMostHeld claims as many requests as may be held. The next claim finds nothing until one of them ends, though its lease was renewed.
func TestMostHeld(t *testing.T) {
	now := time.Unix(1_800_000_000, 0).UTC()
	s := openWire(t, &wire{})
	s.Queue.MostHeld = 2
	ids := createWaiting(t, s, "a", 4, now.Add(-time.Hour))
	claim := func(want string) {
		t.Helper()
		r, err := s.Leases.Claim(t.Context(), "", "w", now, time.Minute, lipsync.Choice{})
		if r.ID != want || (want == "") != (failure.CodeOf(err) == failure.NotFound) {
			t.Errorf("got %s, %v, want %q", r.ID, err, want)
		}
	}
	claim(ids[0])
	claim(ids[1])
	claim("")
	now = now.Add(2 * time.Minute)
	for _, id := range ids[:2] {
		if err := s.Leases.Renew(t.Context(), id, "w", now.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	claim("")
	if _, err := s.Leases.Change(t.Context(), ids[0], func(r lipsync.Request) (lipsync.Request, error) { return r.Released("w") }); err != nil {
		t.Fatal(err)
	}
	claim(ids[0])
	claim("")
}
