package dynamodb

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/table"
)

// survey has the requests that a claim chooses from. They may have changed, since the index lags.
type survey struct {
	accounts []lipsync.Standing  // with the times of the last claims of some
	place    map[owner]int       // of each owner in accounts
	waiting  map[owner][]entry   // each sorted by age once complete
	known    map[string]bool     // ids of requests
	aside    []entry             // requests that pick passed over
	held     int                 // held requests of all classes
	moreHeld bool                // whether held requests may be missing
	whole    bool                // whether no waiting request is missing
	cut      map[ownerClass]bool // those of which a shard may have more waiting requests
	from     lipsync.Choice
}

// ownerClass stands for the requests of an owner with the class.
type ownerClass struct {
	owner
	class lipsync.Class
}

// survey reads all shards: waiting requests of the choice, postponed ones that are due, and held requests.
func (s *Store) survey(ctx context.Context, now time.Time, from lipsync.Choice) (*survey, error) {
	v := &survey{from: from, place: make(map[owner]int), waiting: make(map[owner][]entry), known: make(map[string]bool), cut: make(map[ownerClass]bool), whole: true}
	var waiting, isHeld [queueShards][]entry
	err := table.Together(2*queueShards, func(i int) (err error) {
		if n := i / 2; i%2 == 0 {
			waiting[n], err = s.waitingIn(ctx, n, entryPage, from.Duty.Classes())
		} else {
			isHeld[n], err = s.readEntries(ctx, entryPage, heldAt(n, now))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var old []entry // their leases were renewed or have ended
	for n := range queueShards {
		for _, e := range isHeld[n] {
			switch {
			case e.until.IsZero():
				v.add(e)
			case e.until.After(now):
				v.runs(e)
			default:
				old = append(old, e)
			}
		}
		v.moreHeld = v.moreHeld || len(isHeld[n]) == entryPage
		v.whole = v.whole && len(isHeld[n]) < entryPage && len(waiting[n]) < entryPage
	}
	if err := s.addOld(ctx, v, old, now); err != nil {
		return nil, err
	}
	for _, all := range waiting {
		for i, e := range all {
			v.add(e)
			if page := i + 1; page%entryPage == 0 { // the last one of a call
				v.cut[ownerClass{e.owner, e.class}] = true
			}
		}
	}
	for of, line := range v.waiting {
		slices.SortFunc(line, entry.before)
		v.wait(of, line)
	}
	contenders := lipsync.Contenders(v.accounts)
	rand.Shuffle(len(contenders), func(i, j int) { contenders[i], contenders[j] = contenders[j], contenders[i] }) // lastClaims reads only the first ones
	err = s.lastClaims(ctx, contenders, now)
	for _, c := range contenders {
		v.of(owner{c.Account, c.Kind}).Claimed = c.Claimed
	}
	return v, err
}

// addOld adds requests whose leases would have ended by now if they had not been renewed: a request with a renewed lease is held, the others wait.
func (s *Store) addOld(ctx context.Context, v *survey, old []entry, now time.Time) error {
	ended, err := s.ended(ctx, old, now)
	if err != nil {
		return err
	}
	for _, e := range old {
		if ended[e.id] {
			v.add(e)
		} else {
			v.runs(e)
		}
	}
	return nil
}

// ended reads the leases of requests whose entries have ends that are over, and returns the ids of those whose leases have really ended. If there are
// more entries than one call can read, it returns none, and Upkeep finds the requests.
func (s *Store) ended(ctx context.Context, old []entry, now time.Time) (map[string]bool, error) {
	if len(old) > table.MaxBatch {
		return nil, nil
	}
	ends, err := s.leases(ctx, old)
	if err != nil {
		return nil, err
	}
	ended := make(map[string]bool)
	for _, e := range old {
		if !ends[e.id].After(now) {
			ended[e.id] = true
		}
	}
	return ended, nil
}

// waitingIn returns entries of a shard's waiting requests of the classes, which stand one behind the other. If many of a class hide those of the next
// ones, it reads these too.
func (s *Store) waitingIn(ctx context.Context, n, page int, of []lipsync.Class) (all []entry, err error) {
	for _, first := range of {
		more, ended, err := s.waitingBetween(ctx, n, page, first, endOf(of[len(of)-1]))
		if all = append(all, more...); err != nil || ended {
			return all, err
		}
	}
	return all, nil
}

// waitingBetween returns entries of a shard's waiting requests from the first one of the class to a place: the first page, and if that is full, up to
// maxEntryPages more. Each further page begins at the account and kind after the last ones of the page before.
// If half of them don't reach the end, the other half begins at a random place behind
// them. ended reports whether the last page reached the end.
func (s *Store) waitingBetween(ctx context.Context, n, page int, first lipsync.Class, to string) (all []entry, ended bool, err error) {
	begin := beginOf[first]
	if all, err = s.readEntries(ctx, page, inQueue(n, begin, to)); err != nil || len(all) < page {
		return all, true, err
	}
	after := behind(all[page-1])
	for pages := maxEntryPages; pages > 0; pages-- {
		more, err := s.readEntries(ctx, page, inQueue(n, after, to))
		if all = append(all, more...); err != nil || len(more) < page {
			return all, true, err
		}
		if after = behind(more[page-1]); pages == maxEntryPages/2+1 {
			after = max(after, begin+table.Digest(strconv.FormatUint(rand.Uint64(), 36)))
		}
	}
	return all, false, nil
}

// of returns the standing of the owner.
func (v *survey) of(o owner) *lipsync.Standing {
	if _, ok := v.place[o]; !ok {
		v.place[o] = len(v.accounts)
		v.accounts = append(v.accounts, lipsync.Standing{Account: o.account, Kind: o.kind})
	}
	return &v.accounts[v.place[o]]
}

// wait sets the waiting requests of the owner.
func (v *survey) wait(o owner, line []entry) {
	v.waiting[o] = line
	of := v.of(o)
	if of.Waiting, of.Oldest = len(line), ""; len(line) > 0 {
		of.Oldest = line[0].age()
	}
}

// runs counts a held request, and its lease if it is of the choice.
func (v *survey) runs(e entry) {
	if !v.known[e.id] {
		v.known[e.id] = true
		v.held++
		if !v.from.Duty.Does(e.class) {
			return
		}
		of := v.of(e.owner)
		of.Held = append(of.Held, lipsync.Hold{Since: e.until.Add(-lipsync.Lease), Class: e.class}) // a renewal doesn't change the entry
	}
}

// add adds a waiting request of the choice, unless it is already there.
func (v *survey) add(e entry) {
	if !v.known[e.id] && v.from.Duty.Does(e.class) {
		v.known[e.id] = true
		v.waiting[e.owner] = append(v.waiting[e.owner], e)
	}
}

func (e entry) before(other entry) int {
	return cmp.Or(e.created.Compare(other.created), cmp.Compare(e.id, other.id))
}

// age sorts as before does.
func (e entry) age() string { return age(e.created, e.id) }

// pick takes the next request. Many simultaneous claims want the same one. So a worker that has
// lost a request to another chooses at random among the next two, and among twice as many after
// each further loss, up to 256.
func (v *survey) pick(lost int) (entry, bool) {
	for range rand.N(1 << min(lost, 8)) {
		if e, ok := v.next(); ok {
			v.aside = append(v.aside, e)
		}
	}
	if e, ok := v.next(); ok {
		return e, true
	}
	if len(v.aside) == 0 {
		return entry{}, false
	}
	e := v.aside[0]
	v.aside = v.aside[1:]
	return e, true
}

// next takes the next request.
func (v *survey) next() (entry, bool) {
	i, ok := lipsync.Turn(v.accounts, v.from.Except...)
	if !ok {
		return entry{}, false
	}
	of := owner{v.accounts[i].Account, v.accounts[i].Kind}
	line := v.waiting[of]
	v.wait(of, line[1:])
	return line[0], true
}
