package dynamodb

import (
	"context"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/queue"
	"lipsync/internal/store/dynamodb/table"
)

type leases struct {
	*Store
	*queue.Queue // implements Contest and Upkeep
}

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
	c.Key = queue.LeaseKey(id)
	c.Condition, c.Values, c.Refused = "#token = :token", table.Item{"token": table.Text(token)}, lipsync.ErrLost
	_, err := s.table.Update(ctx, c)
	return err
}

func (s leases) Postponed(ctx context.Context, after time.Time, limit int) ([]lipsync.Request, error) {
	ids, err := s.Queue.Postponed(ctx, after, limit)
	if err != nil {
		return nil, err
	}
	delayed, err := s.held(ctx, ids)
	var requests []lipsync.Request
	for _, r := range delayed {
		if r.Lease == "" && !r.Status.Final() && r.LeaseUntil.After(after) {
			requests = append(requests, r.Request)
		}
	}
	return requests, err
}

func (s leases) Open(ctx context.Context, now time.Time, limit int) ([]lipsync.Request, error) {
	ids, err := s.Claimable(ctx, now, limit)
	if err != nil {
		return nil, err
	}
	var open []lipsync.Request
	for len(ids) > 0 && len(open) < limit {
		n := min(len(ids), table.MaxBatch/2)
		some, err := s.held(ctx, ids[:n])
		if err != nil {
			return nil, err
		}
		for _, r := range some {
			if r.Claimable(now) {
				open = append(open, r.Request)
			}
		}
		ids = ids[n:]
	}
	return open[:min(len(open), limit)], nil
}

// held returns the requests that exist, with their leases.
func (s *Store) held(ctx context.Context, ids []string) (requests []stored, err error) {
	var keys []table.Item
	for _, id := range ids {
		keys = append(keys, requestKey(id), queue.LeaseKey(id))
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
