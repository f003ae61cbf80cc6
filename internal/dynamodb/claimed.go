package dynamodb

import (
	"context"
	"time"
)

// claimedKey is the item that has when a request of the account was last claimed.
func claimedKey(account string) item { return key("claimed/"+digest(account), "claimed") }

// claimedLife is how long it is known when an account had its last turn.
const claimedLife = 7 * 24 * time.Hour

// noteClaim notes when a request of the account was claimed. Claims of one account that
// come at the same time would forestall each other if this were in their transactions.
// An error here costs others' requests a place in line, and no claim.
func (s *Store) noteClaim(ctx context.Context, account string, now time.Time) {
	_, _ = s.update(ctx, change{key: claimedKey(account), set: item{"at": micros(now), TimeToLive: expiry(now.Add(claimedLife))}})
}

// lastClaims returns when requests of the accounts were last claimed, and nothing where
// there is nothing to choose. A time after now is of another clock, and left out. Of more
// accounts than one call reads, the others count as claimed now.
func (s *Store) lastClaims(ctx context.Context, accounts []string, now time.Time) (map[string]time.Time, error) {
	if len(accounts) < 2 {
		return nil, nil
	}
	claimed := make(map[string]time.Time)
	for _, account := range accounts[min(len(accounts), maxBatch):] {
		claimed[account] = now
	}
	accounts = accounts[:min(len(accounts), maxBatch)]
	var keys []item
	for _, account := range accounts {
		keys = append(keys, claimedKey(account))
	}
	found, err := s.getAll(ctx, keys)
	if err != nil {
		return nil, err
	}
	for n, i := range found {
		var at time.Time
		if err := decode(i, []field{{"at", &at}}); err != nil {
			return nil, err
		}
		if !at.After(now) {
			claimed[accounts[n]] = at
		}
	}
	return claimed, nil
}
