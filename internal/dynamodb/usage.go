package dynamodb

import (
	"context"
	"time"

	"lipsync/internal/lipsync"
)

const secondsOfDay = 24 * 60 * 60

// usage is the partition of what an account used.
func usage(account string) string { return "usage/" + digest(account) }

// dayKey is the item that counts the requests of an account that were made on the
// day of the time.
func dayKey(account string, t time.Time) item {
	return key(usage(account), padded(t.Unix()/secondsOfDay))
}

// countCreated counts a new request.
func (s *Store) countCreated(r lipsync.Request) step {
	return change{key: dayKey(r.Account, r.CreatedAt), add: item{"requests": number(1)}}.step(s.table)
}

// countFinal counts what became of a request.
func (s *Store) countFinal(r lipsync.Request) step {
	c := change{key: dayKey(r.Account, r.CreatedAt), add: item{"length": number(r.Length.Microseconds()), "size": number(r.Size)}}
	if r.Status == lipsync.Failed {
		c.add = item{"failed": number(1)}
	}
	return c.step(s.table)
}

// Usage implements lipsync.Requests.
func (s *Store) Usage(ctx context.Context, account string, now time.Time, days int) ([]lipsync.Day, error) {
	keys := make([]item, days)
	for i := range keys {
		keys[i] = dayKey(account, now.UTC().AddDate(0, 0, i-days+1))
	}
	found, err := s.getAll(ctx, keys)
	if err != nil {
		return nil, err
	}
	all := make([]lipsync.Day, days)
	for i := range all {
		d := &all[i]
		err := decode(found[i], []field{{"requests", &d.Requests}, {"failed", &d.Failed}, {"length", &d.Output}})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}
