package lipsynctest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// at returns a time so many seconds after Start.
func at(seconds int) time.Time { return Start().Add(time.Duration(seconds) * time.Second) }

// claim claims a request at the given second, for a minute.
func claim(t *testing.T, store lipsync.Store, id, token string, second int) (lipsync.Request, error) {
	t.Helper()
	return store.Leases.Claim(t.Context(), id, token, at(second), time.Minute, lipsync.Choice{})
}

// held returns a new request that the token "w" holds until second 60.
func held(t *testing.T, store lipsync.Store) lipsync.Request {
	t.Helper()
	addKey(t, store, "a", 0)
	r, err := claim(t, store, add(t, store, "").ID, "w", 0)
	must(t, err)
	return r
}

// wantStored checks a request as the store has it.
func wantStored(t *testing.T, store lipsync.Store, r lipsync.Request) {
	t.Helper()
	got, err := store.Requests.ByID(t.Context(), r.ID)
	must(t, err)
	want(t, "stored", got, r)
}

func testClaim(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	r := add(t, store, "x")
	got, err := claim(t, store, r.ID, "w", 5)
	must(t, err)
	r.Status, r.StartedAt = lipsync.Processing, at(5)
	r.Claims, r.Attempts = 1, 1
	r.Lease, r.LeaseUntil = "w", at(65)
	want(t, "claimed", got, r)
	wantStored(t, store, r)
	_, err = claim(t, store, r.ID, "other", 6)
	wantCode(t, err, failure.NotFound)
	_, err = claim(t, store, uuid.NewString(), "other", 6)
	wantCode(t, err, failure.NotFound)
}

func testClaimOldest(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	addKey(t, store, "b", 0)
	var oldest []string
	for i, account := range []string{"b", "a", "a", "b", "a"} {
		r := newRequest(account, "")
		r.CreatedAt = at(i)
		_, _, err := store.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{})
		must(t, err)
		oldest = append(oldest, r.ID)
	}
	for _, id := range oldest {
		r, err := claim(t, store, "", "w"+id, 10)
		must(t, err)
		want(t, "claimed", r.ID, id)
	}
	_, err := claim(t, store, "", "w", 10)
	wantCode(t, err, failure.NotFound)
}

func testClaimExcept(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	addKey(t, store, "b", 0)
	b, a := newRequest("b", ""), newRequest("a", "")
	a.CreatedAt = at(1)
	for _, r := range []lipsync.Request{b, a} {
		_, _, err := store.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{})
		must(t, err)
	}
	claim := func(except ...string) (lipsync.Request, error) {
		return store.Leases.Claim(t.Context(), "", "w", at(2), time.Minute, lipsync.Choice{Except: except})
	}
	r, err := claim("b")
	must(t, err)
	want(t, "claimed", r.ID, a.ID)
	_, err = claim("a", "b")
	wantCode(t, err, failure.NotFound)
	r, err = claim("a")
	must(t, err)
	want(t, "claimed", r.ID, b.ID)
}

func testConcurrentClaims(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	for range 15 {
		add(t, store, "")
	}
	var mu sync.Mutex
	holders := make(map[string]int)
	codes := together(25, func(i int) error {
		r, err := store.Leases.Claim(t.Context(), "", fmt.Sprint("w", i), at(0), time.Minute, lipsync.Choice{})
		mu.Lock()
		defer mu.Unlock()
		holders[r.ID]++
		return err
	})
	wantCodes(t, codes, map[failure.Code]int{"": 15, failure.NotFound: 10})
	delete(holders, "")
	want(t, "requests held", len(holders), 15)
}

func testConcurrentClaimByID(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	id := add(t, store, "").ID
	codes := together(20, func(i int) error {
		_, err := store.Leases.Claim(t.Context(), id, fmt.Sprint("w", i), at(0), time.Minute, lipsync.Choice{})
		return err
	})
	wantCodes(t, codes, map[failure.Code]int{"": 1, failure.NotFound: 19})
}

func testLeaseEnds(t *testing.T, store lipsync.Store) {
	r := held(t, store)
	_, err := claim(t, store, "", "w2", 59)
	wantCode(t, err, failure.NotFound)
	got, err := claim(t, store, "", "w2", 60)
	must(t, err)
	r.Claims, r.Attempts, r.Class = 2, 2, lipsync.Large
	r.Lease, r.LeaseUntil = "w2", at(120)
	want(t, "claimed again", got, r)
	wantStored(t, store, r)
}

func testRenew(t *testing.T, store lipsync.Store) {
	r := held(t, store)
	must(t, store.Leases.Renew(t.Context(), r.ID, "w", at(100)))
	r.LeaseUntil = at(100)
	wantStored(t, store, r)
	_, err := claim(t, store, r.ID, "w2", 99)
	wantCode(t, err, failure.NotFound)
	_, err = claim(t, store, r.ID, "w2", 100)
	must(t, err)
	wantCode(t, store.Leases.Renew(t.Context(), r.ID, "w", at(200)), failure.Conflict)
}

func testRelease(t *testing.T, store lipsync.Store) {
	r := held(t, store)
	must(t, Release(t.Context(), store.Leases, r.ID, "w"))
	r.Attempts, r.Lease, r.LeaseUntil = 0, "", time.Time{}
	wantStored(t, store, r)
	wantCode(t, Release(t.Context(), store.Leases, r.ID, "w"), failure.Conflict)
	wantCode(t, Release(t.Context(), store.Leases, r.ID, ""), failure.Conflict)
	got, err := claim(t, store, "", "w2", 1)
	must(t, err)
	want(t, "claims", got.Claims, 2)
	want(t, "attempts", got.Attempts, 1)
	want(t, "first start", got.StartedAt, at(0))
}

func testFinish(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	outcomes := []lipsync.Outcome{
		{Output: "outputs/x.mp4", Length: 83*time.Minute + 12345*time.Microsecond},
		{Output: "outputs/x.mp4", Frames: order.Frames{Total: 250, Synced: 249}, Warnings: order.ConvertedHDR, Sync: order.SyncScore{Known: true, Confidence: .987, Offset: -2}},
		{Output: "outputs/x.mp4", Sync: order.SyncScore{Known: true}},
		{Output: "outputs/x.mp4", Unsynced: order.Unsynced{Gaps: []order.Gap{{Start: 1.04, End: 2.5, Reason: order.TurnedAway}}, LeftOut: 3}},
		{Output: "outputs/x.mp4", Sync: order.SyncScore{Closures: order.Part{All: 3, Good: 1, Missed: []float64{.4, 7.9}}, Spoken: order.Part{All: 40, Good: 40}, Curve: "9-03"}},
		{Output: "outputs/x.mp4", Poster: true, VideoLength: 5*time.Second + 1234567*time.Microsecond, AudioLength: time.Hour},
		{Failure: noFace(), VideoLength: time.Second, AudioLength: 2 * time.Second},
	}
	for _, f := range failures() {
		outcomes = append(outcomes, lipsync.Outcome{Failure: f})
	}
	for _, o := range outcomes {
		r, err := claim(t, store, add(t, store, "x").ID, "w", 0)
		must(t, err)
		must(t, Finish(t.Context(), store.Leases, r.ID, "w", at(9), o))
		r, err = r.Ended("w", at(9), o)
		must(t, err)
		wantStored(t, store, r)
		for _, reference := range []string{"", "x"} {
			page, _, err := store.Requests.List(t.Context(), "a", reference, 0, 1)
			must(t, err)
			want(t, "listed failure", page[0].Failure, o.Failure)
		}
	}
}

func testLoser(t *testing.T, store lipsync.Store) {
	r := held(t, store)
	r, err := claim(t, store, r.ID, "w2", 60)
	must(t, err)
	for _, token := range []string{"w", "", "never"} {
		wantCode(t, store.Leases.Renew(t.Context(), r.ID, token, at(500)), failure.Conflict)
		wantCode(t, Release(t.Context(), store.Leases, r.ID, token), failure.Conflict)
		wantCode(t, Finish(t.Context(), store.Leases, r.ID, token, at(61), lipsync.Outcome{Output: "lost.mp4"}), failure.Conflict)
	}
	wantStored(t, store, r)
	wantCode(t, Finish(t.Context(), store.Leases, uuid.NewString(), "w", at(61), lipsync.Outcome{Output: "lost.mp4"}), failure.Conflict)
	// A lease that ran out still holds the request until another worker claims it.
	must(t, Finish(t.Context(), store.Leases, r.ID, "w2", at(999), lipsync.Outcome{Output: "won.mp4"}))
}

func testFinal(t *testing.T, store lipsync.Store) {
	r := held(t, store)
	codes := together(10, func(i int) error {
		return Finish(t.Context(), store.Leases, r.ID, "w", at(1), lipsync.Outcome{Output: fmt.Sprint("output ", i)})
	})
	wantCodes(t, codes, map[failure.Code]int{"": 1, failure.Conflict: 9})
	final, err := store.Requests.ByID(t.Context(), r.ID)
	must(t, err)
	for _, token := range []string{"w", ""} {
		wantCode(t, Finish(t.Context(), store.Leases, r.ID, token, at(2), lipsync.Outcome{Failure: failureOf("late")}), failure.Conflict)
		wantCode(t, Release(t.Context(), store.Leases, r.ID, token), failure.Conflict)
		wantCode(t, store.Leases.Renew(t.Context(), r.ID, token, at(99)), failure.Conflict)
	}
	for _, id := range []string{r.ID, ""} {
		_, err := claim(t, store, id, "w2", 1000)
		wantCode(t, err, failure.NotFound)
	}
	wantStored(t, store, final)
}

func testOpen(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	var all []string
	for i := range 6 {
		r := newRequest("a", "")
		r.CreatedAt = at(i)
		_, _, err := store.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{})
		must(t, err)
		all = append(all, r.ID)
	}
	for i, id := range all[:4] { // 0 final, 1 released, 2 and 3 held
		_, err := claim(t, store, id, fmt.Sprint("w", i), 10)
		must(t, err)
	}
	must(t, Finish(t.Context(), store.Leases, all[0], "w0", at(11), lipsync.Outcome{Output: "o"}))
	must(t, Release(t.Context(), store.Leases, all[1], "w1"))
	for _, c := range []struct {
		second, limit int
		want          []int
	}{
		{20, 10, []int{1, 4, 5}},
		{20, 2, []int{1, 4}},
		{70, 10, []int{1, 2, 3, 4, 5}},
	} {
		open, err := store.Leases.Open(t.Context(), at(c.second), c.limit)
		must(t, err)
		var expected []string
		for _, i := range c.want {
			expected = append(expected, all[i])
		}
		want(t, "open", fmt.Sprint(ids(open)), fmt.Sprint(expected))
	}
}
