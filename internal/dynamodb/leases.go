package dynamodb

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"lipsync/internal/lipsync"
)

func lost() error { return refusal(lipsync.Conflict, "lease lost") }

// claimable reports whether the request is open and nobody holds it.
func (r stored) claimable(now time.Time) bool { return !r.Status.Final() && !r.LeaseUntil.After(now) }

// Renew implements lipsync.Leases.
func (s *Store) Renew(ctx context.Context, id, token string, until time.Time) error {
	return s.updateHeld(ctx, id, token, change{set: item{"leaseUntil": micros(until)}})
}

// Report implements lipsync.Leases.
func (s *Store) Report(ctx context.Context, id, token string, p lipsync.Progress) error {
	r := stored{Request: lipsync.Request{Progress: p}}
	c := change{set: encode(r.progress())}
	for _, f := range r.progress() {
		if c.set[f.name] == nil {
			c.remove = append(c.remove, f.name)
		}
	}
	return s.updateHeld(ctx, id, token, c)
}

// updateHeld makes a change of a part of the request that the lists don't have, so
// that its id is enough. The lease goes on.
func (s *Store) updateHeld(ctx context.Context, id, token string, c change) error {
	c.key, c.add = requestKey(id), item{"version": number(1)}
	c.condition, c.values, c.refused = "#lease = :token", item{"token": text(token)}, lost()
	_, err := s.update(ctx, c)
	return err
}

// Release implements lipsync.Leases.
func (s *Store) Release(ctx context.Context, id, token string) error {
	return s.changeHeld(ctx, id, token, func(r *stored) {
		r.Attempts--
		r.EndDelays()
	})
}

// Postpone implements lipsync.Leases.
func (s *Store) Postpone(ctx context.Context, r lipsync.Request, until time.Time) error {
	return s.changeHeld(ctx, r.ID, r.Lease, func(now *stored) {
		now.LeaseUntil, now.Attempts, now.Delays, now.Fetching = until, r.Attempts, r.Delays, r.Fetching
		now.MissingSince, now.UnreachableSince, now.FailingSince = r.MissingSince, r.UnreachableSince, r.FailingSince
	})
}

// PutOff implements lipsync.Leases.
func (s *Store) PutOff(ctx context.Context, after time.Time, limit int) ([]lipsync.Request, error) {
	in := inPartition(heldRequests)
	in.KeyConditionExpression = aws.String("#open = :open AND #openAt > :after")
	in.ExpressionAttributeValues[":after"] = text(putOff + padded(max(0, after.UnixMicro())+1))
	return decodeRequests(s.query(ctx, limit, in))
}

// EndPause implements lipsync.Leases.
func (s *Store) EndPause(ctx context.Context, r lipsync.Request, now time.Time) error {
	over := refusal(lipsync.Conflict, "pause is over")
	_, err := s.change(ctx, r.ID, nil, func(current stored) (stored, error) {
		if current.Lease != "" || current.LeaseUntil.IsZero() || !current.LeaseUntil.Equal(r.LeaseUntil) {
			return stored{}, over
		}
		current.LeaseUntil = now
		return current, nil
	})
	if lipsync.CodeOf(err) == lipsync.NotFound {
		return over
	}
	return err
}

// Finish implements lipsync.Leases.
func (s *Store) Finish(ctx context.Context, id, token string, now time.Time, o lipsync.Outcome) error {
	return s.changeHeld(ctx, id, token, func(r *stored) { r.End(now, o) })
}

// Cancel implements lipsync.Leases.
func (s *Store) Cancel(ctx context.Context, id string, now time.Time, f lipsync.Failure) (lipsync.Request, error) {
	now = now.Truncate(time.Microsecond) // as it is stored
	return s.change(ctx, id, nil, func(r stored) (stored, error) {
		if r.Status.Final() {
			return stored{}, refusal(lipsync.Conflict, "request is final")
		}
		r.letGo()
		r.Status, r.FinishedAt, r.Failure = lipsync.Failed, now, f
		if r.StartedAt.IsZero() {
			r.StartedAt = now
		}
		return r, nil
	})
}

// letGo ends the lease, if there is one.
func (r *stored) letGo() {
	r.Lease, r.LeaseUntil, r.Progress = "", time.Time{}, lipsync.Progress{}
}

// changeHeld ends the lease that the token is of, and changes the request.
func (s *Store) changeHeld(ctx context.Context, id, token string, f func(*stored)) error {
	_, err := s.change(ctx, id, nil, func(r stored) (stored, error) {
		if token == "" || r.Lease != token {
			return stored{}, lost()
		}
		r.letGo()
		f(&r)
		return r, nil
	})
	if lipsync.CodeOf(err) == lipsync.NotFound {
		return lost()
	}
	return err
}

// change makes the request what next says of it, in the lists too. It begins with
// what was seen of it, and looks again if that is no longer so; nil looks first.
func (s *Store) change(ctx context.Context, id string, seen *stored, next func(stored) (stored, error)) (changed lipsync.Request, err error) {
	err = patiently(ctx, func(n int) error {
		if n > 0 || seen == nil {
			r, err := s.request(ctx, id)
			if err != nil {
				return err
			}
			seen = &r
		}
		to, err := next(*seen)
		if err != nil || to == *seen {
			changed = to.Request
			return err
		}
		to.version++
		changed = to.Request
		return s.transact(ctx, s.replacement(*seen, to))
	})
	if err != nil {
		return lipsync.Request{}, err
	}
	return changed, nil
}

// replacement returns what to write where the request differs from before. The
// first of its items has the condition for all.
func (s *Store) replacement(old, next stored) (steps []step) {
	was := old.items()
	for i, now := range next.items() {
		c := diff(was[i], now)
		if i == 0 {
			c.condition, c.values, c.refused = "#version = :seen", item{"seen": number(old.version)}, moved{}
		}
		if !c.empty() {
			steps = append(steps, c.step(s.table))
		}
	}
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

// Open implements lipsync.Leases.
func (s *Store) Open(ctx context.Context, now time.Time, limit int) ([]lipsync.Request, error) {
	var all []lipsync.Request
	for _, in := range []*dynamodb.QueryInput{inPartition(openRequests), heldAt(now)} {
		in.FilterExpression = aws.String("attribute_not_exists(#leaseUntil) OR #leaseUntil <= :now")
		in.ExpressionAttributeValues[":now"] = micros(now)
		open, err := decodeRequests(s.query(ctx, limit, in))
		if err != nil {
			return nil, err
		}
		all = append(all, open...)
	}
	slices.SortFunc(all, func(a, b lipsync.Request) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	// One that was claimed or given back between the two queries may be in both.
	all = slices.CompactFunc(all, func(a, b lipsync.Request) bool { return a.ID == b.ID })
	return all[:min(len(all), limit)], nil
}
