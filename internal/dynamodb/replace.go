package dynamodb

import (
	"context"

	"lipsync/internal/lipsync"
)

// change makes the request what next says of it, and looks again if it is no longer as it
// was seen. What older versions wrote is written as this one does.
func (s *Store) change(ctx context.Context, id string, next func(stored) (stored, error)) (changed lipsync.Request, err error) {
	err = patiently(ctx, func(int) error {
		seen, err := s.request(ctx, id)
		if err != nil {
			return err
		}
		to, err := next(seen)
		changed = to.Request
		if err != nil || to == seen && !seen.older() {
			return err
		}
		if to.version++; seen.seq > 0 {
			to.bucket = inOlder
		}
		return s.transact(ctx, s.replacement(seen, to))
	})
	if err != nil {
		return lipsync.Request{}, err
	}
	return changed, nil
}

// replacement returns what to write where the request differs from before. The
// first of its items has the condition for all.
func (s *Store) replacement(old, next stored) []step {
	steps := []step{s.put(next.item(), "#version = :seen", item{":seen": number(old.version)}, moved{})}
	if turn := next.turn(); turn != nil {
		steps = append(steps, s.put(turn, "", nil, nil))
	} else {
		steps = append(steps, s.remove(turnKey(next.ID), "", nil))
	}
	steps = append(append(steps, s.replaceLease(old, next)...), s.leaveOlder(old)...)
	if !old.Status.Final() && next.Status.Final() {
		steps = append(steps, s.countFinal(next.Request))
		if (lipsync.Outcome{Failure: next.Failure}).Free() && next.KeyID != "" {
			steps = append(steps, s.free(next.KeyID))
		}
	}
	if old.MediaDeletedAt.IsZero() && !next.MediaDeletedAt.IsZero() && next.Size > 0 {
		steps = append(steps, s.uncountSize(next.Request))
	}
	return steps
}

// replaceLease returns what to write of the lease. A renewal doesn't change the request's
// version: whoever takes a lease that ended names when it did.
func (s *Store) replaceLease(old, next stored) []step {
	switch {
	case next.Lease == old.Lease && !old.heldByOlder:
		return nil
	case next.Lease == "":
		return []step{s.remove(leaseKey(next.ID), "", nil)}
	case old.Lease == "" || old.heldByOlder:
		return []step{s.put(next.leaseItem(), "attribute_not_exists(#pk)", nil, moved{})}
	default:
		return []step{s.put(next.leaseItem(), "#token = :old AND #until = :seen",
			item{":old": text(old.Lease), ":seen": micros(old.LeaseUntil)}, moved{})}
	}
}

// leaveOlder takes what an older version wrote out of its places in the index.
func (s *Store) leaveOlder(old stored) (steps []step) {
	if old.seq > 0 {
		for _, k := range []item{
			key(list(old.Account, ""), padded(old.seq)), key(list(old.Account, old.ReferenceID), padded(old.referenceSeq)),
		}[:min(len(old.places()), 2)] {
			steps = append(steps, change{key: k, remove: []string{OpenPartition, OpenSort}}.step(s.table))
		}
	}
	return steps
}
