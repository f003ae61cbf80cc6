package lipsync

import (
	"cmp"
	"slices"
	"time"
)

// Standing is what decides when workers with a duty claim requests of one kind of an account. It has only requests of the classes that they do: what other
// workers hold makes no one wait.
type Standing struct {
	Account string
	Kind    Kind
	Waiting int // claimable requests, at most the limit
	Held    []Hold
	Claimed time.Time // the last claim; zero if unknown
	Oldest  string    // sorts by the age of the oldest claimable request, in this store; "" if none is stored
}

// Hold stands for a request that a worker holds.
type Hold struct {
	Since time.Time // when it was claimed, or claimed first
	Class Class
}

// Turn returns the index of the account and kind whose oldest claimable request a worker claims next: of those with claimable requests and
// the fewest leases, it is the one whose last claim is longest ago, or else the one with the oldest request. The accounts except have no turn.
// ok is false if no request is claimable.
func Turn(all []Standing, except ...string) (next int, ok bool) {
	for i, s := range all {
		if s.Waiting > 0 && !slices.Contains(except, s.Account) && (!ok || s.compare(all[next]) < 0) {
			next, ok = i, true
		}
	}
	return next, ok
}

// Contenders returns those of which Turn chooses one by their last claims. A store needs to know the last claims of these only.
func Contenders(all []Standing) (some []Standing) {
	next, _ := Turn(all)
	for _, s := range all {
		if s.Waiting > 0 && len(s.Held) == len(all[next].Held) {
			some = append(some, s)
		}
	}
	return some
}

func (s Standing) compare(other Standing) int {
	return cmp.Or(cmp.Compare(len(s.Held), len(other.Held)), s.Claimed.Compare(other.Claimed), cmp.Compare(s.Oldest, other.Oldest))
}

// Contest is what decides when workers claim a waiting request; see Leases.Contest.
type Contest struct {
	Ahead    int        // older claimable requests of the same account and kind, at most the limit
	Accounts []Standing // of the request's account and kind, and of others with claimable requests or leases
}
