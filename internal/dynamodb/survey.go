package dynamodb

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
)

// survey is what a claim chooses from: hints, since the index may lag.
type survey struct {
	running map[string]int       // leases, by account
	waiting map[string][]waiting // by account; the oldest first once all are there
	claimed map[string]time.Time // the last time, by account; of some
	known   map[string]bool      // ids of requests
	aside   []waiting            // what pick passed over
	whole   bool                 // whether nothing that waits is missing
}

// survey looks at all shards: at what waits, at what was put off until now or before, and at
// what is held.
func (s *Store) survey(ctx context.Context, now time.Time) (*survey, error) {
	v := &survey{running: make(map[string]int), waiting: make(map[string][]waiting), known: make(map[string]bool), whole: true}
	var inQueue, isHeld [queueShards][]waiting
	err := together(2*queueShards, func(i int) (err error) {
		if n := i / 2; i%2 == 0 {
			inQueue[n], err = s.inQueue(ctx, n, turnPage)
		} else {
			isHeld[n], err = s.readTurns(ctx, turnPage, heldAt(n, now))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var old []waiting // leases that were renewed, or ended
	for n := range queueShards {
		for _, w := range isHeld[n] {
			switch {
			case w.until.IsZero():
				v.add(w)
			case w.until.After(now):
				v.runs(w)
			default:
				old = append(old, w)
			}
		}
		v.whole = v.whole && len(isHeld[n]) < turnPage && len(inQueue[n]) < turnPage
	}
	if err := s.addOld(ctx, v, old, now); err != nil {
		return nil, err
	}
	for _, all := range inQueue {
		for _, w := range all {
			v.add(w)
		}
	}
	for _, line := range v.waiting {
		slices.SortFunc(line, waiting.before)
	}
	v.claimed, err = s.lastClaims(ctx, v.fewest(), now)
	return v, err
}

// addOld adds what is held for so long that its lease was renewed, if nobody died. Of many
// it takes none for ended: that is left to Upkeep.
func (s *Store) addOld(ctx context.Context, v *survey, old []waiting, now time.Time) error {
	ends := make(map[string]time.Time)
	few := len(old) <= maxBatch
	if few && len(old) > 0 {
		var err error
		if ends, err = s.leases(ctx, old); err != nil {
			return err
		}
	}
	for _, w := range old {
		if few && !ends[w.id].After(now) {
			v.add(w)
		} else {
			v.runs(w)
		}
	}
	return nil
}

// inQueue returns the first of what waits in a shard, and if that is a whole page more: from one
// account to the next, to the end if a few calls reach it, and else from a random place on.
func (s *Store) inQueue(ctx context.Context, n, page int) ([]waiting, error) {
	all, err := s.readTurns(ctx, page, inQueueAfter(n, ""))
	if err != nil || len(all) < page {
		return all, err
	}
	after := behind(all[page-1].account)
	for pages := maxTurnPages; pages > 0; pages-- {
		more, err := s.readTurns(ctx, page, inQueueAfter(n, after))
		if all = append(all, more...); err != nil || len(more) < page {
			return all, err
		}
		if after = behind(more[page-1].account); pages == maxTurnPages/2+1 {
			after = max(after, digest(strconv.FormatUint(rand.Uint64(), 36)))
		}
	}
	return all, nil
}

// fewest returns the accounts with the fewest leases, in random order.
func (v *survey) fewest() (accounts []string) {
	least := math.MaxInt
	for account := range v.waiting {
		least = min(least, v.running[account])
	}
	for account := range v.waiting {
		if v.running[account] == least {
			accounts = append(accounts, account)
		}
	}
	return accounts
}

// runs counts the lease of a request that is held.
func (v *survey) runs(w waiting) {
	if !v.known[w.id] {
		v.known[w.id] = true
		v.running[w.account]++
	}
}

// add adds a request that waits, unless it is there already.
func (v *survey) add(w waiting) {
	if !v.known[w.id] {
		v.known[w.id] = true
		v.waiting[w.account] = append(v.waiting[w.account], w)
	}
}

func (w waiting) before(other waiting) int {
	return cmp.Or(w.created.Compare(other.created), cmp.Compare(w.id, other.id))
}

// pick takes the next request. Many that claim at the same time want the same one: whoever
// lost one, and then another, looks at twice as many each time and takes any of them.
func (v *survey) pick(lost int) (waiting, bool) {
	for range rand.N(1 << min(lost, 8)) {
		if w, ok := v.next(); ok {
			v.aside = append(v.aside, w)
		}
	}
	if w, ok := v.next(); ok {
		return w, true
	}
	if len(v.aside) == 0 {
		return waiting{}, false
	}
	w := v.aside[0]
	v.aside = v.aside[1:]
	return w, true
}

// next takes the oldest request of the account with the fewest leases, or of that one of
// several whose last claim is the longest ago.
func (v *survey) next() (next waiting, ok bool) {
	for account, line := range v.waiting {
		if len(line) == 0 {
			continue
		}
		fewer := cmp.Compare(v.running[account], v.running[next.account])
		earlier := v.claimed[account].Compare(v.claimed[next.account])
		if !ok || cmp.Or(fewer, earlier, line[0].before(next)) < 0 {
			next, ok = line[0], true
		}
	}
	if ok {
		v.waiting[next.account] = v.waiting[next.account][1:]
	}
	return next, ok
}
