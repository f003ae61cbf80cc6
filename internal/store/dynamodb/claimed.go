package dynamodb

import (
	"context"
	"time"

	"lipsync/internal/domain/lipsync"
)

// claimedKey is the key of the item that stores when a request of the owner was last claimed.
func claimedKey(of owner) item { return key("claimed/"+of.digest(), "claimed") }

// claimedLife is the age at which the time of an owner's last claim is deleted.
const claimedLife = 7 * 24 * time.Hour

// noteClaim stores when a request of the owner was claimed. It is not part of the claim's
// transaction, because simultaneous claims of one owner would then conflict. If it fails, others'
// requests may wait a little longer; the claim itself still stands.
func (s *Store) noteClaim(ctx context.Context, of owner, now time.Time) {
	_, _ = s.update(ctx, change{key: claimedKey(of), set: item{"at": micros(now), TimeToLive: expiry(now.Add(claimedLife))}})
}

// lastClaims sets the times of the last claims. It sets nothing for fewer than two owners, since there
// is nothing to choose. It leaves out times after now, which come from a machine whose clock is ahead.
// If there are more owners than one call can read, the rest count as claimed now.
func (s *Store) lastClaims(ctx context.Context, all []lipsync.Standing, now time.Time) error {
	if len(all) < 2 {
		return nil
	}
	var keys []item
	for i, a := range all {
		if i < maxBatch {
			keys = append(keys, claimedKey(owner{a.Account, a.Kind}))
		} else {
			all[i].Claimed = now
		}
	}
	found, err := s.getAll(ctx, keys)
	if err != nil {
		return err
	}
	for n, i := range found {
		var at time.Time
		if err := decode(i, []field{{"at", &at}}); err != nil {
			return err
		}
		if !at.After(now) {
			all[n].Claimed = at
		}
	}
	return nil
}
