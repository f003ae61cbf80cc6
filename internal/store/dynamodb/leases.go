package dynamodb

import (
	"cmp"
	"context"
	"slices"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/table"
)

type leases struct{ *Store }

func (s leases) Renew(ctx context.Context, id, token string, until time.Time) error {
	return s.updateLease(ctx, id, token, table.Change{Set: table.Item{"until": table.Micros(until)}})
}

func (s leases) Report(ctx context.Context, id, token string, p lipsync.Progress) error {
	r := stored{Request: lipsync.Request{Progress: p}}
	c := table.Change{Set: table.Encode(r.progress())}
	for name := range r.progress() {
		if c.Set[name] == nil {
			c.Remove = append(c.Remove, name)
		}
	}
	return s.updateLease(ctx, id, token, c)
}

func (s leases) NoteVideo(ctx context.Context, id, token string, sum [32]byte) error {
	_, err := s.table.Update(ctx, table.Change{
		Key: requestKey(id), Set: table.Encode(table.Fields{videoSum: &sum}), Add: table.Item{"version": table.Number(1)},
		Condition: "#holder = :token", Values: table.Item{"token": table.Text(token)}, Refused: lipsync.ErrLost,
	})
	return err
}

// updateLease changes the lease that has the token, without ending it.
func (s *Store) updateLease(ctx context.Context, id, token string, c table.Change) error {
	c.Key = leaseKey(id)
	c.Condition, c.Values, c.Refused = "#token = :token", table.Item{"token": table.Text(token)}, lipsync.ErrLost
	_, err := s.table.Update(ctx, c)
	return err
}

func (s leases) Postponed(ctx context.Context, after time.Time, limit int) ([]lipsync.Request, error) {
	all, err := table.Gather(queueShards, func(n int) ([]entry, error) {
		return s.readEntries(ctx, limit, table.InIndex(table.Shard(held, n), "> :after", table.Item{":after": table.Text(postponed + table.Padded(max(0, after.UnixMicro())+1))}))
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.place, b.place) })
	delayed, err := s.held(ctx, all[:min(len(all), limit)])
	var requests []lipsync.Request
	for _, r := range delayed {
		if r.Lease == "" && !r.Status.Final() && r.LeaseUntil.After(after) {
			requests = append(requests, r.Request)
		}
	}
	return requests, err
}

// Open implements lipsync.Leases. If more requests wait in a shard than the limit, it reads them
// in the order of claims.
func (s leases) Open(ctx context.Context, now time.Time, limit int) ([]lipsync.Request, error) {
	page := max(limit, entryPage)
	all, err := table.Gather(queueShards, func(n int) ([]entry, error) {
		waiting, err := s.waitingIn(ctx, n, page, lipsync.Classes())
		if err != nil {
			return nil, err
		}
		isHeld, err := s.readEntries(ctx, page, heldAt(n, now))
		return append(waiting, slices.DeleteFunc(isHeld, func(e entry) bool { return e.until.After(now) })...), err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, entry.before)
	// A request that was claimed or released between the two queries may be in both.
	all = slices.CompactFunc(all, func(a, b entry) bool { return a.id == b.id })
	var open []lipsync.Request
	for len(all) > 0 && len(open) < limit {
		n := min(len(all), table.MaxBatch/2)
		some, err := s.held(ctx, all[:n])
		if err != nil {
			return nil, err
		}
		for _, r := range some {
			if r.Claimable(now) {
				open = append(open, r.Request)
			}
		}
		all = all[n:]
	}
	return open[:min(len(open), limit)], nil
}

// held returns the requests that exist, with their leases.
func (s *Store) held(ctx context.Context, all []entry) (requests []stored, err error) {
	var keys []table.Item
	for _, e := range all {
		keys = append(keys, requestKey(e.id), leaseKey(e.id))
	}
	items, err := s.table.GetAll(ctx, keys)
	for n := 0; err == nil && n < len(items); n += 2 {
		var r stored
		if r, err = decodeRequest(items[n], items[n+1]); items[n] != nil {
			requests = append(requests, r)
		}
	}
	return requests, err
}
