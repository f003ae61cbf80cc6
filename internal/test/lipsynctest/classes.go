package lipsynctest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// createIn creates a request of the class by the account at a second.
func createIn(t *testing.T, store lipsync.Store, account string, class lipsync.Class, second int) lipsync.Request {
	t.Helper()
	r := newRequest(account, "")
	r.KeyID, r.Class, r.CreatedAt = "", class, at(second)
	r, _, err := store.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{})
	must(t, err)
	return r
}

// claimIn claims the next request for a worker with the duty, and checks which one that is: none if it has no id.
func claimIn(t *testing.T, store lipsync.Store, d lipsync.Duty, token string, second int, wanted lipsync.Request) {
	t.Helper()
	r, err := store.Leases.Claim(t.Context(), "", token, at(second), time.Minute, lipsync.Choice{Duty: d})
	if wanted.ID == "" {
		wantCode(t, err, failure.NotFound)
		return
	}
	must(t, err)
	want(t, "claimed by "+token, r.ID, wanted.ID)
	want(t, "its class", r.Class, wanted.Class)
}

// testClasses claims small requests and neural ones from among large ones, and then all in their order.
func testClasses(t *testing.T, store lipsync.Store) {
	first, large := createIn(t, store, "a", lipsync.Large, 0), createIn(t, store, "b", lipsync.Large, 1)
	var small []lipsync.Request
	for i := range 3 {
		small = append(small, createIn(t, store, "a", lipsync.Small, 2+i))
	}
	wantStored(t, store, large)
	claimIn(t, store, lipsync.DoesSmall, "s0", 10, small[0])
	claimIn(t, store, lipsync.DoesPlain, "b", 10, large) // the account without leases
	claimIn(t, store, lipsync.DoesSmall, "s1", 10, small[1])
	claimIn(t, store, lipsync.DoesPlain, "a", 10, first) // the oldest one of its account
	claimIn(t, store, lipsync.DoesSmall, "s2", 10, small[2])
	claimIn(t, store, lipsync.DoesSmall, "none", 10, lipsync.Request{})

	neural, last := createIn(t, store, "c", lipsync.Neural, 5), createIn(t, store, "c", lipsync.Neural, 6)
	wantStored(t, store, neural)
	claimIn(t, store, lipsync.DoesPlain, "none", 10, lipsync.Request{})
	claimIn(t, store, lipsync.DoesNeural, "n", 10, neural)
	claimIn(t, store, lipsync.DoesAll, "all", 10, last)
	claimIn(t, store, lipsync.DoesNeural, "none", 10, lipsync.Request{})
}

// oneOfAClass is the claim of the only request of a class from behind many of another one.
type oneOfAClass struct {
	class lipsync.Class
	duty  lipsync.Duty
}

func testBehindManyLarge(t *testing.T, store lipsync.Store) {
	testBehindMany(t, store, lipsync.Large, oneOfAClass{lipsync.Small, lipsync.DoesSmall}, oneOfAClass{lipsync.Neural, lipsync.DoesNeural})
}

func testBehindManySmall(t *testing.T, store lipsync.Store) {
	testBehindMany(t, store, lipsync.Small, oneOfAClass{lipsync.Large, lipsync.DoesAll}, oneOfAClass{lipsync.Large, lipsync.DoesPlain}, oneOfAClass{lipsync.Neural, lipsync.DoesAll})
}

func testBehindManyNeural(t *testing.T, store lipsync.Store) {
	testBehindMany(t, store, lipsync.Neural, oneOfAClass{lipsync.Large, lipsync.DoesPlain})
}

// testBehindMany does the claims, each for another account.
func testBehindMany(t *testing.T, store lipsync.Store, other lipsync.Class, claims ...oneOfAClass) {
	_, err := claim(t, store, createIn(t, store, "many", other, 0).ID, "first", 390)
	must(t, err)
	for i := range 300 {
		createIn(t, store, "many", other, i)
	}
	for i, c := range claims {
		r := createIn(t, store, fmt.Sprint("one", i), c.class, 301)
		claimIn(t, store, c.duty, fmt.Sprint("w", i), 400, r)
	}
}

// testFairByDuty has small workers hold requests of one account. Its neural request still waits behind none of an account that came later, and its next
// small one does.
func testFairByDuty(t *testing.T, store lipsync.Store) {
	for i := range 3 {
		r := createIn(t, store, "busy", lipsync.Small, i)
		claimIn(t, store, lipsync.DoesSmall, fmt.Sprint("s", i), 3, r)
	}
	first := createIn(t, store, "other", lipsync.Large, 3)
	small, neural := createIn(t, store, "busy", lipsync.Small, 4), createIn(t, store, "busy", lipsync.Neural, 4)
	later, last := createIn(t, store, "other", lipsync.Small, 5), createIn(t, store, "other", lipsync.Neural, 5)
	claimIn(t, store, lipsync.DoesPlain, "plain", 6, first) // so that the last claim of the busy account is longer ago
	claimIn(t, store, lipsync.DoesNeural, "n0", 7, neural)
	claimIn(t, store, lipsync.DoesNeural, "n1", 7, last)
	claimIn(t, store, lipsync.DoesSmall, "s3", 8, later)
	claimIn(t, store, lipsync.DoesSmall, "s4", 8, small)
}

// testEnlarge makes small requests large: one that its worker gives back, and one whose worker dies.
func testEnlarge(t *testing.T, store lipsync.Store) {
	r := createIn(t, store, "a", lipsync.Small, 0)
	claimIn(t, store, lipsync.DoesSmall, "w", 1, r)
	enlarge := func(token string) (lipsync.Request, error) {
		return store.Leases.Change(t.Context(), r.ID, func(r lipsync.Request) (lipsync.Request, error) { return r.Enlarged(token) })
	}
	_, err := enlarge("other")
	wantCode(t, err, failure.Conflict)
	r, err = enlarge("w")
	must(t, err)
	want(t, "its class and attempts", fmt.Sprintf("%s %d", r.Class, r.Attempts), "large 0")
	wantStored(t, store, r)
	claimIn(t, store, lipsync.DoesSmall, "small", 2, lipsync.Request{})
	claimIn(t, store, lipsync.DoesPlain, "any", 2, r)

	dead := createIn(t, store, "b", lipsync.Small, 3)
	claimIn(t, store, lipsync.DoesSmall, "dies", 4, dead)
	must(t, store.Leases.Upkeep(t.Context(), at(65)))
	dead.Class = lipsync.Large
	claimIn(t, store, lipsync.DoesSmall, "dies too", 65, dead)
	must(t, store.Leases.Upkeep(t.Context(), at(126)))
	claimIn(t, store, lipsync.DoesSmall, "small", 126, lipsync.Request{})
	claimIn(t, store, lipsync.DoesPlain, "any other", 126, r) // whose lease has ended too
	claimIn(t, store, lipsync.DoesPlain, "the last", 126, dead)
}

// testDeadNeural has the worker of a neural request die, and another one release it. It stays neural.
func testDeadNeural(t *testing.T, store lipsync.Store) {
	r := createIn(t, store, "a", lipsync.Neural, 0)
	claimIn(t, store, lipsync.DoesNeural, "dies", 1, r)
	must(t, store.Leases.Upkeep(t.Context(), at(62)))
	claimIn(t, store, lipsync.DoesPlain, "plain", 62, lipsync.Request{})
	claimIn(t, store, lipsync.DoesNeural, "releases", 62, r)
	_, err := store.Leases.Change(t.Context(), r.ID, func(r lipsync.Request) (lipsync.Request, error) { return r.Enlarged("releases") })
	wantCode(t, err, failure.Conflict)
	r, err = store.Leases.Change(t.Context(), r.ID, func(r lipsync.Request) (lipsync.Request, error) { return r.Released("releases") })
	must(t, err)
	wantStored(t, store, r)
	claimIn(t, store, lipsync.DoesSmall, "small", 63, lipsync.Request{})
	claimIn(t, store, lipsync.DoesPlain, "plain", 63, lipsync.Request{})
	claimIn(t, store, lipsync.DoesNeural, "the last", 63, r)
}

// testPostponedLarge postpones a large request. Once it is due, no claim of a small one gets it.
func testPostponedLarge(t *testing.T, store lipsync.Store) {
	r := createIn(t, store, "a", lipsync.Large, 0)
	r, err := claim(t, store, r.ID, "w", 1)
	must(t, err)
	must(t, Postpone(t.Context(), store.Leases, r, at(10)))
	for range 2 {
		claimIn(t, store, lipsync.DoesSmall, "small", 11, lipsync.Request{})
		must(t, store.Leases.Upkeep(t.Context(), at(11)))
	}
	claimIn(t, store, lipsync.DoesPlain, "any", 11, r)
}

// testContestApart counts the requests of a class only that wait and are older.
func testContestApart(t *testing.T, store lipsync.Store) {
	classes := []lipsync.Class{lipsync.Small, lipsync.Large}
	var all []lipsync.Request
	for i := range 12 {
		all = append(all, createIn(t, store, []string{"a", "b"}[i%3%2], classes[i%2], i))
	}
	createIn(t, store, "a", lipsync.Neural, 0)
	small, large := createIn(t, store, "a", lipsync.Small, 12), createIn(t, store, "a", lipsync.Large, 13)
	for _, i := range []int{0, 1, 2} {
		_, err := claim(t, store, all[i].ID, fmt.Sprint("w", i), 20)
		must(t, err)
	}
	onlySmall, onlyLarge := []lipsync.Class{lipsync.Small}, []lipsync.Class{lipsync.Large}
	for _, c := range []struct {
		r     lipsync.Request
		among []lipsync.Class
		want  string
	}{
		{small, onlySmall, "2 ahead; a: 3 wait, holds [ ]; b: 2 wait, holds []"},
		{large, onlyLarge, "4 ahead; a: 5 wait, holds []; b: 1 wait, holds [large]"},
		{large, classes, "7 ahead; a: 8 wait, holds [ ]; b: 3 wait, holds [large]"},
		{large, lipsync.Classes(), "8 ahead; a: 9 wait, holds [ ]; b: 3 wait, holds [large]"},
		{lipsync.Request{Account: "a", Class: lipsync.Large}, onlyLarge, "5 ahead; a: 5 wait, holds []; b: 1 wait, holds [large]"},
	} {
		l, err := store.Leases.Contest(t.Context(), c.r, c.among, at(21), 100)
		must(t, err)
		slices.SortFunc(l.Accounts, func(a, b lipsync.Standing) int { return strings.Compare(a.Account, b.Account) })
		got := fmt.Sprint(l.Ahead, " ahead")
		for _, a := range l.Accounts {
			var held []lipsync.Class
			for _, h := range a.Held {
				held = append(held, h.Class)
			}
			got += fmt.Sprintf("; %s: %d wait, holds %s", a.Account, a.Waiting, held)
		}
		want(t, fmt.Sprintf("contest of a %q one among %q", c.r.Class, c.among), got, c.want)
	}
}
