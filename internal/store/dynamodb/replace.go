package dynamodb

import (
	"context"
	"reflect"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/callers"
	"lipsync/internal/store/dynamodb/queue"
	"lipsync/internal/store/dynamodb/table"
)

func (s leases) Change(ctx context.Context, id string, t lipsync.Transition) (lipsync.Request, error) {
	return s.replace(ctx, id, func(r stored) (_ stored, err error) {
		r.Request, err = t(r.Request)
		return r, err
	})
}

// replace does what Change does, for a function that needs what the table stores beside the request. If another process
// changed the request in between, it reads the request and calls next again.
func (s *Store) replace(ctx context.Context, id string, next func(stored) (stored, error)) (changed lipsync.Request, err error) {
	err = table.RetryConflicts(ctx, func(int) error {
		seen, err := s.request(ctx, id)
		if err != nil && failure.CodeOf(err) != failure.NotFound {
			return err
		}
		to, err := next(seen)
		changed = to.Request
		if err != nil || reflect.DeepEqual(to, seen) {
			return err
		}
		to.version++
		return s.table.Transact(ctx, s.replacement(seen, to))
	})
	if err != nil {
		return lipsync.Request{}, err
	}
	return changed, nil
}

// replacement returns the steps that write the difference between the two versions of the request.
// The first step has the condition that no other process changed the request.
func (s *Store) replacement(old, next stored) []table.Step {
	steps := []table.Step{s.table.PutStep(next.item(), "#version = :seen", table.Item{"seen": table.Number(old.version)}, table.Conflict{})}
	if i := next.entryItem(); i != nil {
		steps = append(steps, s.table.PutStep(i, "", nil, nil))
	} else {
		steps = append(steps, s.table.DeleteStep(queue.EntryKey(next.ID), "", nil))
	}
	steps = append(steps, s.replaceLease(old, next)...)
	steps = append(steps, s.addDeliveries(next.News(old.Status))...)
	if !old.Status.Final() && next.Status.Final() {
		steps = append(steps, s.countFinal(next.Request))
	}
	if next.GivesBack(old.Status) {
		steps = append(steps, s.table.UpdateStep(callers.Free(next.KeyID)))
	}
	if old.MediaDeletedAt.IsZero() && !next.MediaDeletedAt.IsZero() && next.Size > 0 {
		steps = append(steps, s.uncountSize(next.Request))
	}
	return steps
}

// replaceLease returns the steps that write the lease. A renewal doesn't change the request's
// version, so a claim of a request whose lease has ended has the condition that the lease's end is
// still the same.
func (s *Store) replaceLease(old, next stored) []table.Step {
	switch {
	case next.Lease == old.Lease:
		return nil
	case next.Lease == "":
		return []table.Step{s.table.DeleteStep(queue.LeaseKey(next.ID), "", nil)}
	case old.Lease == "":
		return []table.Step{s.table.PutStep(next.leaseItem(), "attribute_not_exists(#pk)", nil, table.Conflict{})}
	default:
		return []table.Step{s.table.PutStep(next.leaseItem(), "#token = :old AND #until = :seen",
			table.Item{"old": table.Text(old.Lease), "seen": table.Micros(old.LeaseUntil)}, table.Conflict{})}
	}
}

// repairEntry writes the queue entry that the request should have. An entry is wrong if Upkeep put
// it into the queue because the lease had ended, and the worker renewed the lease after all.
func (s *Store) repairEntry(ctx context.Context, id string) error {
	_, err := s.replace(ctx, id, func(r stored) (stored, error) {
		if r.ID == "" {
			return stored{}, table.NotFound()
		}
		r.version++ // so that the request is written
		return r, nil
	})
	return err
}
