package lipsynctest

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// testPlaces compares the places of all requests in queues of several accounts with the order in which they are claimed.
func testPlaces(t *testing.T, store lipsync.Store) {
	dice := rand.New(rand.NewPCG(1, 2))
	accounts := []string{"a", "b", "c", "d", "e"}
	for _, account := range accounts {
		addKey(t, store, account, 0)
	}
	var all []string
	made := func(n, second int) {
		for i := range n {
			account := accounts[min(dice.IntN(len(accounts)), dice.IntN(len(accounts)))] // some have more than others
			all = append(all, addAt(t, store, account, second+i))
		}
	}
	made(12, 0)
	for i, id := range all { // some run, some have run, and some are postponed
		r, err := claim(t, store, id, "w"+id, 100+i)
		must(t, err)
		switch dice.IntN(4) {
		case 0:
			must(t, Finish(t.Context(), store.Leases, id, r.Lease, at(100+i), lipsync.Outcome{Output: "o"}))
		case 1:
			must(t, Postpone(t.Context(), store.Leases, r, at([]int{130, 900}[i%2])))
		}
	}
	made(40, 110)
	const now = 150
	s := NewService(t, base.Config{Workers: 1}, base.Ports{
		Store: store,
		Now:   func() time.Time { return at(now) },
	})
	places := make(map[string]int)
	for _, id := range all {
		r, err := store.Requests.ByID(t.Context(), id)
		must(t, err)
		p, err := s.Place(t.Context(), r)
		must(t, err)
		places[id] = p.Position
	}
	claims := 0
	for ; ; claims++ {
		r, err := store.Leases.Claim(t.Context(), "", fmt.Sprint("next", claims), at(now).Add(time.Duration(claims)*time.Millisecond), time.Hour, lipsync.Choice{})
		if failure.CodeOf(err) == failure.NotFound {
			break
		}
		must(t, err)
		want(t, fmt.Sprint("place of claim ", claims), places[r.ID], claims+1)
		delete(places, r.ID)
	}
	if claims < 40 {
		t.Errorf("got %d claims, want 40 or more", claims)
	}
	for id, place := range places {
		want(t, "place of "+id+", which does not wait", place, 0)
	}
}

// testContestLimit has more requests than are counted.
func testContestLimit(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	addKey(t, store, "b", 0)
	for i := range 9 {
		addAt(t, store, "a", i)
	}
	last := addAt(t, store, "a", 10)
	held := addAt(t, store, "b", 11)
	_, err := claim(t, store, held, "w", 12)
	must(t, err)
	for _, c := range []struct {
		r            lipsync.Request
		limit, ahead int
	}{
		{lipsync.Request{ID: last, Account: "a", CreatedAt: at(10)}, 100, 9},
		{lipsync.Request{ID: last, Account: "a", CreatedAt: at(10)}, 4, 4},
		{lipsync.Request{Account: "a", CreatedAt: at(20)}, 100, 10},
		{lipsync.Request{Account: "c", CreatedAt: at(20)}, 100, 0},
	} {
		l, err := store.Leases.Contest(t.Context(), c.r, lipsync.Classes(), at(20), c.limit)
		must(t, err)
		want(t, "ahead", l.Ahead, c.ahead)
		for _, s := range l.Accounts {
			switch s.Account {
			case "a":
				want(t, "waiting", s.Waiting, min(10, c.limit))
				want(t, "held", len(s.Held), 0)
			case "b":
				want(t, "waiting", s.Waiting, 0)
				want(t, "held", fmt.Sprint(s.Held), fmt.Sprint([]lipsync.Hold{{Since: at(12).UTC()}}))
				want(t, "claimed", s.Claimed.Equal(at(12)), true)
			case c.r.Account:
				want(t, "waiting", s.Waiting, 0)
			default:
				t.Errorf("got account %q", s.Account)
			}
		}
		accounts := 2
		if c.r.Account == "c" {
			accounts = 3
		}
		want(t, "accounts", len(l.Accounts), accounts)
	}
}

var smallWarp = lipsync.EngineClass{Engine: "warp", Class: lipsync.Small}

// wantSpeeds checks the speeds of all engines.
func wantSpeeds(t *testing.T, store lipsync.Store, wanted lipsync.Measured) {
	t.Helper()
	got, err := store.Speeds.All(t.Context())
	must(t, err)
	want(t, "speeds", fmt.Sprint(got), fmt.Sprint(wanted))
}

func testSpeeds(t *testing.T, store lipsync.Store) {
	wantSpeeds(t, store, nil)
	first, second := lipsync.NewSpeed(1000, time.Second), lipsync.NewSpeed(70_000_000, time.Hour)
	must(t, store.Speeds.Note(t.Context(), "warp", lipsync.Small, first))
	must(t, store.Speeds.Note(t.Context(), "wav2lip", lipsync.Large, first))
	must(t, store.Speeds.Note(t.Context(), "warp", lipsync.Small, second))
	must(t, store.Speeds.Note(t.Context(), "warp", lipsync.Large, second))
	wantSpeeds(t, store, lipsync.Measured{smallWarp: first.Plus(second), {Engine: "warp", Class: lipsync.Large}: second, {Engine: "wav2lip", Class: lipsync.Large}: first})
}

func testRecentSpeeds(t *testing.T, store lipsync.Store) {
	for range lipsync.RecentWork {
		must(t, store.Speeds.Note(t.Context(), "warp", lipsync.Small, lipsync.NewSpeed(1000, time.Hour)))
	}
	wantSpeeds(t, store, lipsync.Measured{smallWarp: times(lipsync.RecentWork, lipsync.NewSpeed(1000, time.Hour))})
	must(t, store.Speeds.Note(t.Context(), "warp", lipsync.Small, lipsync.NewSpeed(1000, time.Hour)))
	wantSpeeds(t, store, lipsync.Measured{smallWarp: {
		Requests: 101, Size: 100_500, Took: 361800 * time.Second, Inverse: 100_500_000, Pace: 361_800_000_000,
	}})
	for range 4 * lipsync.RecentWork {
		must(t, store.Speeds.Note(t.Context(), "warp", lipsync.Small, lipsync.NewSpeed(1000, time.Second)))
	}
	all, err := store.Speeds.All(t.Context())
	must(t, err)
	if mean := all[smallWarp].Mean(); mean < 900*time.Millisecond || mean > time.Minute {
		t.Errorf("got a mean of %s, want one near a second", mean)
	}
}

func testConcurrentSpeeds(t *testing.T, store lipsync.Store) {
	codes := together(40, func(int) error {
		return store.Speeds.Note(t.Context(), "warp", lipsync.Small, lipsync.NewSpeed(10, time.Second))
	})
	wantCodes(t, codes, map[failure.Code]int{"": 40})
	wantSpeeds(t, store, lipsync.Measured{smallWarp: times(40, lipsync.NewSpeed(10, time.Second))})
}

// times returns the Speed of n requests with the same Speed.
func times(n int, s lipsync.Speed) (all lipsync.Speed) {
	for range n {
		all = all.Plus(s)
	}
	return all
}
