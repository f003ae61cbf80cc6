package lipsynctest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// DemandStore is a store with the Demand of a pool.
type DemandStore struct {
	lipsync.Store
	lipsync.Demand
}

// TestDemand checks an implementation of lipsync.Demand. open returns an empty store.
func TestDemand(t *testing.T, open func(t *testing.T) DemandStore) {
	TestDemandOfFew(t, open)
	TestDemandOfMany(t, open)
}

// TestDemandOfFew is TestDemand without what TestDemandOfMany checks.
func TestDemandOfFew(t *testing.T, open func(t *testing.T) DemandStore) {
	suite[DemandStore]{
		{"waiting", testWaiting},
		{"waiting, by class", testWaitingClasses},
		{"steady", testSteady},
		{"scaling lock", testScalingLock},
		{"lock for small workers", testSmallLock},
		{"scaling locks at once", testConcurrentScalingLocks},
		{"scaling lock after a clock was set back", testScalingLockClock},
		{"mean", testMean},
		{"mean at once", testConcurrentMean},
		{"means of classes", testMeans},
	}.run(t, open)
}

// TestDemandOfMany checks the mean of thousands of requests.
func TestDemandOfMany(t *testing.T, open func(t *testing.T) DemandStore) {
	suite[DemandStore]{{"mean of the last", testRecentMean}}.run(t, open)
}

func testWaiting(t *testing.T, s DemandStore) {
	const n = 20
	waits := func(when string, now time.Time, limit, small int) {
		t.Helper()
		got, _, err := s.Waiting(t.Context(), now, now, limit)
		must(t, err)
		want(t, when, got[lipsync.Small], small)
	}
	waits("none", at(0), 10, 0)
	addKey(t, s.Store, "a", 0)
	addKey(t, s.Store, "b", 0)
	var ids []string
	for i := range n {
		ids = append(ids, addAt(t, s.Store, []string{"a", "b"}[i%2], i))
	}
	waits("all", at(n), 1000, n)
	_, old, err := s.Waiting(t.Context(), at(n), at(n/2), 1000)
	must(t, err)
	want(t, "made by a half of the time", old[lipsync.Small], n/2+1)
	for _, limit := range []int{0, 1, 7, n} {
		waits("at most", at(n), limit, limit)
	}
	for i, id := range ids[:4] {
		_, err := s.Leases.Claim(t.Context(), id, "token", at(n), time.Minute, lipsync.Choice{})
		must(t, err)
		switch i {
		case 0:
			must(t, Finish(t.Context(), s.Leases, id, "token", at(n), lipsync.Outcome{Output: "o"}))
		case 1:
			must(t, Release(t.Context(), s.Leases, id, "token"))
		case 2:
			r, err := s.Requests.ByID(t.Context(), id)
			must(t, err)
			must(t, Postpone(t.Context(), s.Leases, r, at(n+30)))
		}
	}
	_, err = Cancel(t.Context(), s.Leases, ids[4], at(n))
	must(t, err)
	waits("but the final, held and postponed", at(n), 1000, n-4)
	waits("and once the pause is over", at(n+30), 1000, n-3)
	must(t, s.Leases.Upkeep(t.Context(), at(n+60)))
	waits("and once the lease is", at(n+60), 1000, n-2)
}

func testWaitingClasses(t *testing.T, s DemandStore) {
	waits := func(when string, now time.Time, limit, small, large, neural, claimed int) {
		t.Helper()
		got, old, err := s.Waiting(t.Context(), now, at(-1), limit)
		must(t, err)
		want(t, when+", of those that were claimed before", old[lipsync.Small]+old[lipsync.Large]+old[lipsync.Neural], claimed)
		want(t, when, fmt.Sprint(got), fmt.Sprint(lipsync.Waiting{lipsync.Small: small, lipsync.Large: large, lipsync.Neural: neural}))
	}
	for i := range 14 {
		r := createIn(t, s.Store, "a", []lipsync.Class{lipsync.Small, lipsync.Large, lipsync.Neural, lipsync.Large, lipsync.Neural, lipsync.Neural}[i%6], i)
		if i > 6 {
			continue
		}
		r, err := s.Leases.Claim(t.Context(), r.ID, "token", at(20), time.Minute, lipsync.Choice{})
		must(t, err)
		must(t, Postpone(t.Context(), s.Leases, r, at(30)))
	}
	waits("before half are due", at(20), 100, 1, 3, 3, 0)
	waits("after it", at(30), 100, 3, 5, 6, 7)
	waits("at most", at(30), 3, 3, 3, 3, 7)
}

func testSteady(t *testing.T, s DemandStore) {
	_, err := s.LockScaling(t.Context(), at(0), at(5))
	must(t, err)
	for i, c := range []struct{ running, least int }{{5, 0}, {7, 0}, {4, 4}, {9, 4}, {0, 0}, {9, 0}, {9, 0}, {8, 8}} {
		got, err := s.Steady(t.Context(), c.running)
		must(t, err)
		want(t, fmt.Sprint("least after call ", i), got, c.least)
	}
}

func testScalingLock(t *testing.T, s DemandStore) {
	take := func(from, to int, code failure.Code, wait time.Duration) {
		t.Helper()
		_, err := s.LockScaling(t.Context(), at(from), at(to))
		want(t, "code", failure.CodeOf(err), code)
		if e, ok := err.(*failure.Error); ok {
			want(t, "wait", e.RetryAfter, wait)
		}
	}
	take(0, 5, "", 0)
	take(0, 5, failure.Conflict, 5*time.Second)
	take(-1, 4, failure.Conflict, 6*time.Second) // the caller's clock is behind
	take(4, 9, failure.Conflict, time.Second)
	take(5, 10, "", 0)
	take(6, 11, failure.Conflict, 4*time.Second)
}

// testSmallLock checks that the lock for small workers is another one than the scaling lock.
func testSmallLock(t *testing.T, s DemandStore) {
	_, err := s.LockScaling(t.Context(), at(0), at(5))
	must(t, err)
	for _, c := range []struct {
		from int
		code failure.Code
	}{{0, ""}, {1, failure.Conflict}, {2, ""}} {
		_, err := s.LockSmall(t.Context(), at(c.from), at(c.from+2))
		want(t, "code", failure.CodeOf(err), c.code)
	}
	_, err = s.Worked(t.Context(), lipsync.Stint{Took: 7 * time.Second})
	must(t, err)
	means, err := s.LockSmall(t.Context(), at(4), at(6))
	must(t, err)
	want(t, "means", fmt.Sprint(means), fmt.Sprint(lipsync.Means{lipsync.Small: 7 * time.Second, lipsync.Large: 0, lipsync.Neural: 0}))
	_, err = s.LockScaling(t.Context(), at(4), at(9))
	want(t, "code of the scaling lock", failure.CodeOf(err), failure.Conflict)
}

func testConcurrentScalingLocks(t *testing.T, s DemandStore) {
	for round := range 3 {
		var mu sync.Mutex
		taken := 0
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				_, err := s.LockScaling(t.Context(), at(5*round), at(5*round+5))
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					taken++
				} else if failure.CodeOf(err) != failure.Conflict {
					t.Error(err)
				}
			})
		}
		all.Wait()
		want(t, "taken", taken, 1)
	}
}

func testScalingLockClock(t *testing.T, s DemandStore) {
	_, err := s.LockScaling(t.Context(), at(3600), at(3605))
	must(t, err)
	_, err = s.LockScaling(t.Context(), at(0), at(5))
	must(t, err)
}

// wantMean checks the mean of small requests that LockScaling returns.
func wantMean(t *testing.T, s DemandStore, when string, second int, from, to time.Duration) {
	t.Helper()
	means, err := s.LockScaling(t.Context(), at(second), at(second+5))
	must(t, err)
	if mean := means[lipsync.Small]; mean < from || mean > to {
		t.Errorf("%s: got a mean of %s, want %s to %s", when, mean, from, to)
	}
}

// testMeans checks that each class has a mean of its own, and that the times of small workers and of runners with a GPU aren't in the sum of the Pool's.
func testMeans(t *testing.T, s DemandStore) {
	for i, c := range []struct {
		lipsync.Stint
		all time.Duration
	}{
		{lipsync.Stint{Class: lipsync.Large, Took: time.Hour}, time.Hour},
		{lipsync.Stint{Class: lipsync.Small, Took: 2 * time.Second}, time.Hour + 2*time.Second},
		{lipsync.Stint{Class: lipsync.Small, Took: 4 * time.Second, Duty: lipsync.DoesSmall}, time.Hour + 2*time.Second},
		{lipsync.Stint{Class: lipsync.Neural, Took: time.Minute, Duty: lipsync.DoesNeural}, time.Minute},
		{lipsync.Stint{Class: lipsync.Large, Took: 3 * time.Hour, Duty: lipsync.DoesPlain}, 4*time.Hour + 2*time.Second},
	} {
		all, err := s.Worked(t.Context(), c.Stint)
		must(t, err)
		want(t, fmt.Sprint("sum after ", i), all, c.all)
	}
	means, err := s.LockScaling(t.Context(), at(0), at(5))
	must(t, err)
	want(t, "means", fmt.Sprint(means), fmt.Sprint(lipsync.Means{lipsync.Small: 3 * time.Second, lipsync.Large: 2 * time.Hour, lipsync.Neural: time.Minute}))
}

func testMean(t *testing.T, s DemandStore) {
	wantMean(t, s, "nothing known", 0, 0, 0)
	for took, wanted := range []time.Duration{1: time.Second, 2: 3 * time.Second, 3: 6 * time.Second} {
		if took == 0 {
			continue
		}
		all, err := s.Worked(t.Context(), lipsync.Stint{Took: time.Duration(took) * time.Second})
		must(t, err)
		want(t, "all", all, wanted)
	}
	wantMean(t, s, "of three", 5, 2*time.Second, 2*time.Second)
}

// testRecentMean checks the mean of short requests after long ones.
func testRecentMean(t *testing.T, s DemandStore) {
	round := 0
	work := func(n int, took time.Duration) (all time.Duration) {
		for i := range n {
			var err error
			all, err = s.Worked(t.Context(), lipsync.Stint{Took: took})
			must(t, err)
			if i%100 == 0 {
				round++
				_, err = s.LockScaling(t.Context(), at(5*round), at(5*round+5))
				must(t, err)
			}
		}
		return all
	}
	work(1100, time.Hour)
	if all, wanted := work(2500, time.Second), 1100*time.Hour+2500*time.Second; all != wanted {
		t.Errorf("got %s in all, want %s", all, wanted)
	}
	wantMean(t, s, "of the last", 5*round+5, time.Second, 6*time.Minute)
}

func testConcurrentMean(t *testing.T, s DemandStore) {
	var all sync.WaitGroup
	for n := range 40 {
		all.Go(func() {
			_, err := s.Worked(t.Context(), lipsync.Stint{Took: time.Duration(n+1) * time.Second})
			must(t, err)
		})
	}
	all.Wait()
	wantMean(t, s, "of forty", 0, 20500*time.Millisecond, 20500*time.Millisecond)
}
