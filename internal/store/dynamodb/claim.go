package dynamodb

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"lipsync/internal/domain/failure"
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

// maxSurveys is the most times that a claim reads the queue. It reads the queue again if other
// workers claimed all requests that it found.
const maxSurveys = 3

func (s leases) Claim(ctx context.Context, id, token string, now time.Time, lease time.Duration, from lipsync.Choice) (lipsync.Request, error) {
	r, err := s.claim(ctx, id, token, now, lease, from)
	if err == nil {
		s.noteClaim(ctx, ownerOf(r), now)
	}
	return r, err
}

func (s *Store) claim(ctx context.Context, id, token string, now time.Time, lease time.Duration, from lipsync.Choice) (lipsync.Request, error) {
	var last stored // the last one that was tried
	claim := func(r stored) (stored, error) {
		if last = r; r.Lease == token {
			return r, nil // an earlier try succeeded, but its answer was lost
		}
		claimed, err := r.Claimed(token, now, lease)
		if err == nil && r.Claims == 0 {
			err = s.makeListed(ctx, r)
		}
		r.Request = claimed
		return r, err
	}
	take := func(id string) (lipsync.Request, error) {
		r, err := s.replace(ctx, id, claim)
		if err == nil && last.Lease != token {
			s.lastHeld.add()
		}
		return r, err
	}
	if id != "" {
		return take(id)
	}
	for range maxSurveys {
		v, err := s.survey(ctx, now, from)
		if err != nil {
			return lipsync.Request{}, err
		}
		if many, err := s.manyHeld(ctx, v, now); many || err != nil {
			return lipsync.Request{}, cmp.Or(err, table.NotFound())
		}
		lost := 0
		for c, ok := v.pick(lost); ok; c, ok = v.pick(lost) {
			claimed, err := take(c.id)
			if failure.CodeOf(err) != failure.NotFound {
				return claimed, err
			}
			if last.queued {
				err = s.repairEntry(ctx, c.id)
			} else if !last.Status.Final() { // another worker was faster
				of := v.of(c.owner)
				of.Held = append(of.Held, lipsync.Hold{Since: now, Class: c.class})
				lost++
			}
			if err != nil && failure.CodeOf(err) != failure.NotFound {
				return lipsync.Request{}, err
			}
		}
		if v.whole {
			break
		}
	}
	return lipsync.Request{}, table.NotFound()
}

// heldLife is the time for which a count of held requests is used. A count of 1000 takes some 40 read units, and up to maxBatch for leases; and there may be
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
func (s *Store) manyHeld(ctx context.Context, v *survey, now time.Time) (bool, error) {
	switch {
	case s.MostHeld <= 0:
		return false, nil
	case v.held >= s.MostHeld:
		return true, nil
	case !v.moreHeld:
		return false, nil
	}
	n, ok := s.lastHeld.get(now)
	if !ok {
		var err error
		if n, err = s.countHeld(ctx, now); err != nil {
			return false, err
		}
		s.lastHeld.set(n, now)
	}
	return n >= s.MostHeld, nil
}

// countHeld returns the number of held requests, by the rule of a survey.
func (s *Store) countHeld(ctx context.Context, now time.Time) (int, error) {
	all, err := table.Gather(queueShards, func(n int) ([]entry, error) { return s.readEntries(ctx, s.MostHeld, heldIn(n)) })
	if err != nil {
		return 0, err
	}
	old := slices.DeleteFunc(slices.Clone(all), func(e entry) bool { return e.until.After(now) })
	ended, err := s.ended(ctx, old, now)
	return len(all) - len(ended), err
}

// claimedKey is the key of the item that stores when a request of the owner was last claimed.
func claimedKey(of owner) table.Item { return table.Key("claimed/"+of.digest(), "claimed") }

// claimedLife is the age at which the time of an owner's last claim is deleted.
const claimedLife = 7 * 24 * time.Hour

// noteClaim stores when a request of the owner was claimed. It is not part of the claim's
// transaction, because simultaneous claims of one owner would then conflict. If it fails, others'
// requests may wait a little longer; the claim itself still stands.
func (s *Store) noteClaim(ctx context.Context, of owner, now time.Time) {
	_, _ = s.table.Update(ctx, table.Change{Key: claimedKey(of), Set: table.Item{"at": table.Micros(now), table.TimeToLive: table.Expiry(now.Add(claimedLife))}})
}

// lastClaims sets the times of the last claims. It sets nothing for fewer than two owners, since there
// is nothing to choose. It leaves out times after now, which come from a machine whose clock is ahead.
// If there are more owners than one call can read, the rest count as claimed now.
func (s *Store) lastClaims(ctx context.Context, all []lipsync.Standing, now time.Time) error {
	if len(all) < 2 {
		return nil
	}
	var keys []table.Item
	for i, a := range all {
		if i < table.MaxBatch {
			keys = append(keys, claimedKey(owner{a.Account, a.Kind}))
		} else {
			all[i].Claimed = now
		}
	}
	found, err := s.table.GetAll(ctx, keys)
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
