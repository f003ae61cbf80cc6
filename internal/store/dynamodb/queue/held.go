package queue

import (
	"context"
	"slices"
	"sync"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/table"
)

// heldLife is the time for which a count of held requests is used. A count of 1000 takes some 40 read units, and up to table.MaxBatch for leases; and there may be
// 600 claims a second.
const heldLife = time.Second

// heldCount is a number of held requests: those that were counted, and those that this process has claimed since.
type heldCount struct {
	sync.Mutex
	n  int
	at time.Time // when they were counted
}

// get returns the number, unless it is too old.
func (c *heldCount) get(now time.Time) (n int, ok bool) {
	c.Lock()
	defer c.Unlock()
	age := now.Sub(c.at)
	return c.n, age >= 0 && age < heldLife
}

func (c *heldCount) set(n int, now time.Time) {
	c.Lock()
	defer c.Unlock()
	c.n, c.at = n, now
}

func (c *heldCount) add() {
	c.Lock()
	defer c.Unlock()
	c.n++
}

// manyHeld reports whether MostHeld requests are held, so that none may be claimed. If the survey may not have all, it counts them.
func (q *Queue) manyHeld(ctx context.Context, v *Survey, now time.Time) (bool, error) {
	switch {
	case q.MostHeld <= 0:
		return false, nil
	case v.held >= q.MostHeld:
		return true, nil
	case !v.moreHeld:
		return false, nil
	}
	n, ok := q.lastHeld.get(now)
	if !ok {
		var err error
		if n, err = q.countHeld(ctx, now); err != nil {
			return false, err
		}
		q.lastHeld.set(n, now)
	}
	return n >= q.MostHeld, nil
}

// countHeld returns the number of held requests, by the rule of a survey.
func (q *Queue) countHeld(ctx context.Context, now time.Time) (int, error) {
	all, err := table.Gather(queueShards, func(n int) ([]entry, error) { return q.readEntries(ctx, q.MostHeld, heldIn(n)) })
	if err != nil {
		return 0, err
	}
	old := slices.DeleteFunc(slices.Clone(all), func(e entry) bool { return e.until.After(now) })
	ended, err := q.ended(ctx, old, now)
	return len(all) - len(ended), err
}

// AddHeld counts a request that this process has claimed.
func (q *Queue) AddHeld() { q.lastHeld.add() }

const claims = "claimed/"

// claimedKey is the key of the item that stores when a request of the owner was last claimed.
func claimedKey(of Owner) table.Item { return table.Key(claims+of.Digest(), "claimed") }

// claimedLife is the age at which the time of an owner's last claim is deleted.
const claimedLife = 7 * 24 * time.Hour

// NoteClaim stores when a request of the owner was claimed. It is not part of the claim's
// transaction, because simultaneous claims of one owner would then conflict. If it fails, others'
// requests may wait a little longer; the claim itself still stands.
func (q *Queue) NoteClaim(ctx context.Context, of Owner, now time.Time) {
	_, _ = q.table.Update(ctx, table.Change{Key: claimedKey(of), Set: table.Item{"at": table.Micros(now), table.TimeToLive: table.Expiry(now.Add(claimedLife))}})
}

// lastClaims sets the times of the last claims. It sets nothing for fewer than two owners, since there
// is nothing to choose. It leaves out times after now, which come from a machine whose clock is ahead.
// If there are more owners than one call can read, the rest count as claimed now.
func (q *Queue) lastClaims(ctx context.Context, all []lipsync.Standing, now time.Time) error {
	if len(all) < 2 {
		return nil
	}
	var keys []table.Item
	for i, a := range all {
		if i < table.MaxBatch {
			keys = append(keys, claimedKey(Owner{a.Account, a.Kind}))
		} else {
			all[i].Claimed = now
		}
	}
	found, err := q.table.GetAll(ctx, keys)
	if err != nil {
		return err
	}
	for n, i := range found {
		var at time.Time
		if err := table.Decode(i, table.Fields{"at": &at}); err != nil {
			return err
		}
		if !at.After(now) {
			all[n].Claimed = at
		}
	}
	return nil
}
