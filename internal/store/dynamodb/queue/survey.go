package queue

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

// These constants bound the number of entries that a claim reads. From each shard it reads up to
// entryPage entries of waiting requests, and as many of requests that are held or may be claimed
// again. If more requests wait in a shard, the claim skips from one account and kind to the next, in at most
// maxEntryPages more calls. A page of entries costs one read unit, so a shard allows about 600
// claims a second, no matter how many requests wait.
const (
	entryPage     = 25
	maxEntryPages = 4
)

// Survey has the requests that a claim chooses from. They may have changed, since the index lags.
type Survey struct {
	accounts []lipsync.Standing  // with the times of the last claims of some
	place    map[Owner]int       // of each owner in accounts
	waiting  map[Owner][]entry   // each sorted by age once complete
	known    map[string]bool     // ids of requests
	aside    []entry             // requests that Pick passed over
	picked   entry               // the last one that Pick took
	lost     int                 // number of requests that were lost to others
	held     int                 // held requests of all classes
	moreHeld bool                // whether held requests may be missing
	whole    bool                // whether no waiting request is missing
	cut      map[ownerClass]bool // those of which a shard may have more waiting requests
	from     lipsync.Choice
}

// ownerClass stands for the requests of an owner with the class.
type ownerClass struct {
	Owner
	class lipsync.Class
}

// Survey returns the requests that a claim at now chooses from. It returns NotFound if as many are held as may be.
func (q *Queue) Survey(ctx context.Context, now time.Time, from lipsync.Choice) (*Survey, error) {
	v, err := q.survey(ctx, now, from)
	if err != nil {
		return nil, err
	}
	if many, err := q.manyHeld(ctx, v, now); many || err != nil {
		return nil, cmp.Or(err, table.NotFound())
	}
	return v, nil
}

// Whole reports whether the survey has all requests that wait, so that another one would find no more.
func (v *Survey) Whole() bool { return v.whole }

// survey reads all shards: waiting requests of the choice, postponed ones that are due, and held requests.
func (q *Queue) survey(ctx context.Context, now time.Time, from lipsync.Choice) (*Survey, error) {
	v := &Survey{from: from, place: make(map[Owner]int), waiting: make(map[Owner][]entry), known: make(map[string]bool), cut: make(map[ownerClass]bool), whole: true}
	var waiting, isHeld [queueShards][]entry
	err := table.Together(2*queueShards, func(i int) (err error) {
		if n := i / 2; i%2 == 0 {
			waiting[n], err = q.waitingIn(ctx, n, entryPage, from.Duty.Classes())
		} else {
			isHeld[n], err = q.readEntries(ctx, entryPage, heldAt(n, now))
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
	if err := q.addOld(ctx, v, old, now); err != nil {
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
	for of, waiting := range v.waiting {
		slices.SortFunc(waiting, entry.before)
		v.wait(of, waiting)
	}
	contenders := lipsync.Contenders(v.accounts)
	rand.Shuffle(len(contenders), func(i, j int) { contenders[i], contenders[j] = contenders[j], contenders[i] }) // lastClaims reads only the first ones
	err = q.lastClaims(ctx, contenders, now)
	for _, c := range contenders {
		v.of(Owner{c.Account, c.Kind}).Claimed = c.Claimed
	}
	return v, err
}

// addOld adds requests whose leases would have ended by now if they had not been renewed: a request with a renewed lease is held, the others wait.
func (q *Queue) addOld(ctx context.Context, v *Survey, old []entry, now time.Time) error {
	ended, err := q.ended(ctx, old, now)
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
func (q *Queue) ended(ctx context.Context, old []entry, now time.Time) (map[string]bool, error) {
	if len(old) > table.MaxBatch {
		return nil, nil
	}
	ends, err := q.leases(ctx, old)
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
func (q *Queue) waitingIn(ctx context.Context, n, page int, of []lipsync.Class) (all []entry, err error) {
	for _, first := range of {
		more, ended, err := q.waitingBetween(ctx, n, page, first, endOf(of[len(of)-1]))
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
func (q *Queue) waitingBetween(ctx context.Context, n, page int, first lipsync.Class, to string) (all []entry, ended bool, err error) {
	begin := beginOf[first]
	if all, err = q.readEntries(ctx, page, inQueue(n, begin, to)); err != nil || len(all) < page {
		return all, true, err
	}
	after := behind(all[page-1])
	for pages := maxEntryPages; pages > 0; pages-- {
		more, err := q.readEntries(ctx, page, inQueue(n, after, to))
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
func (v *Survey) of(o Owner) *lipsync.Standing {
	if _, ok := v.place[o]; !ok {
		v.place[o] = len(v.accounts)
		v.accounts = append(v.accounts, lipsync.Standing{Account: o.Account, Kind: o.Kind})
	}
	return &v.accounts[v.place[o]]
}

// wait sets the waiting requests of the owner.
func (v *Survey) wait(o Owner, waiting []entry) {
	v.waiting[o] = waiting
	of := v.of(o)
	if of.Waiting, of.Oldest = len(waiting), ""; len(waiting) > 0 {
		of.Oldest = waiting[0].age()
	}
}

// runs counts a held request, and its lease if it is of the choice.
func (v *Survey) runs(e entry) {
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
func (v *Survey) add(e entry) {
	if !v.known[e.id] && v.from.Duty.Does(e.class) {
		v.known[e.id] = true
		v.waiting[e.owner] = append(v.waiting[e.owner], e)
	}
}

func (e entry) before(other entry) int {
	return cmp.Or(e.created.Compare(other.created), cmp.Compare(e.id, other.id))
}

// age sorts as before does.
func (e entry) age() string { return table.Place(e.created, e.id) }

// Pick takes the next request. Many simultaneous claims want the same one. So a worker that has
// lost a request to another chooses at random among the next two, and among twice as many after
// each further loss, up to 256.
func (v *Survey) Pick() (id string, ok bool) {
	for range rand.N(1 << min(v.lost, 8)) {
		if e, ok := v.next(); ok {
			v.aside = append(v.aside, e)
		}
	}
	if v.picked, ok = v.next(); ok {
		return v.picked.id, true
	}
	if len(v.aside) == 0 {
		return "", false
	}
	v.picked, v.aside = v.aside[0], v.aside[1:]
	return v.picked.id, true
}

// Lose says that another worker holds the request that Pick took last.
func (v *Survey) Lose(now time.Time) {
	of := v.of(v.picked.owner)
	of.Held = append(of.Held, lipsync.Hold{Since: now, Class: v.picked.class})
	v.lost++
}

// next takes the next request.
func (v *Survey) next() (entry, bool) {
	i, ok := lipsync.Turn(v.accounts, v.from.Except...)
	if !ok {
		return entry{}, false
	}
	of := Owner{v.accounts[i].Account, v.accounts[i].Kind}
	waiting := v.waiting[of]
	v.wait(of, waiting[1:])
	return waiting[0], true
}
