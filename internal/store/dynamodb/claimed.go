package dynamodb

import (
	"context"
	"time"
)

// claimedKey is the key of the item that stores when a request of the account was last claimed.
func claimedKey(account string) item { return key("claimed/"+digest(account), "claimed") }

// claimedLife is the age at which the time of an account's last claim is deleted.
const claimedLife = 7 * 24 * time.Hour

// noteClaim stores when a request of the account was claimed. It is not part of the claim's
// transaction, because simultaneous claims of one account would then conflict. If it fails, other
// accounts' requests may wait a little longer; the claim itself still stands.
func (s *Store) noteClaim(ctx context.Context, account string, now time.Time) {
	_, _ = s.update(ctx, change{key: claimedKey(account), set: item{"at": micros(now), TimeToLive: expiry(now.Add(claimedLife))}})
}

// lastClaims returns the times at which requests of the accounts were last claimed. It returns
// nothing for fewer than two accounts, since there is nothing to choose. It leaves out times after
// now, which come from a machine whose clock is ahead. If there are more accounts than one call can
// read, the rest count as claimed now.
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
