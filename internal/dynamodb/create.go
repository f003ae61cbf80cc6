package dynamodb

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/lipsync"
)

// Create implements lipsync.Requests. It looks, then writes on the condition that
// nothing of what it saw has changed.
func (s *Store) Create(ctx context.Context, r lipsync.Request, uploads []string, idem *lipsync.Idempotency, limits lipsync.Limits) (created lipsync.Request, replayed bool, err error) {
	var full bool // at the beginning: uploads and outputs take more time than a create
	if limits.Stored > 0 {
		all, _, err := s.stored(ctx, r.Account, r.CreatedAt, limits)
		if err != nil {
			return lipsync.Request{}, false, err
		}
		full = all >= limits.Stored
	}
	var refused error
	err = patiently(ctx, func(int) error {
		seen, err := s.look(ctx, r, idem)
		switch {
		case err != nil:
			return err
		case seen.earlier != "":
			replayed = true
			created, err = s.Get(ctx, seen.earlier)
			return err
		case refused != nil:
			return refused
		case full:
			return refusal(lipsync.StorageLimit, "too many bytes stored")
		}
		next := stored{Request: r, version: 1}
		next.Seq = seen.total + 1
		if r.ReferenceID != "" {
			next.referenceSeq = seen.referenceTotal + 1
		}
		created = next.Request
		if err = s.checkOpen(ctx, r.Account, &seen, limits.Open); err == nil {
			err = s.transact(ctx, s.creation(next, seen, uploads, idem, limits.Keep))
		}
		if lipsync.CodeOf(err) == lipsync.TokenLimit && seen.freed > 0 {
			err = s.settle(ctx, r.KeyID, seen)
		}
		if _, ok := errors.AsType[*lipsync.Error](err); ok && idem != nil {
			// The same create may have come first just now, and used up a limit:
			// then this one is its replay.
			refused, err = err, moved{}
		}
		return err
	})
	if err != nil {
		return lipsync.Request{}, false, err
	}
	return created, replayed, nil
}

// sight is what a create depends on.
type sight struct {
	hash                  [32]byte // of the key that makes the request
	total, referenceTotal int64
	opened                int64  // as many requests are open, or fewer
	known                 bool   // whether opened is
	freed                 int64  // uses that were given back to the key
	earlier               string // the request that the idempotency key made, or ""
}

func (s *Store) look(ctx context.Context, r lipsync.Request, idem *lipsync.Idempotency) (seen sight, err error) {
	keys := []item{counterKey(r.Account, ""), keyPointer(r.KeyID), oldKeyPointer(r.KeyID), freedKey(r.KeyID)}
	if r.ReferenceID != "" {
		keys = append(keys, counterKey(r.Account, r.ReferenceID))
	}
	if idem != nil {
		keys = append(keys, idempotencyKey(r.Account, idem.Key))
	}
	found, err := s.getAll(ctx, keys)
	if err != nil {
		return sight{}, err
	}
	if idem != nil {
		if seen.earlier, err = replay(found[len(found)-1], *idem, r.CreatedAt); err != nil {
			return sight{}, err
		}
	}
	err = errors.Join(
		decode(found[0], []field{{"total", &seen.total}, {"opened", &seen.opened}}),
		decode(found[1], []field{{"hash", &seen.hash}}), decode(found[2], []field{{"hash", &seen.hash}}),
		decode(found[3], []field{{"freed", &seen.freed}}))
	// The counter is that of an older version if it has no more than a total.
	seen.known = seen.opened > 0 || seen.total == 0
	if r.ReferenceID != "" {
		err = errors.Join(err, decode(found[4], []field{{"total", &seen.referenceTotal}}))
	}
	return seen, err
}

// creation returns all that a new request consists of.
func (s *Store) creation(r stored, seen sight, uploads []string, idem *lipsync.Idempotency, keep lipsync.Retention) []step {
	total := count(counterKey(r.Account, ""), seen.total)
	if seen.known {
		total.set["opened"] = number(seen.opened + 1)
	}
	steps := []step{total.step(s.table)}
	if r.KeyID != "" {
		steps = append(steps, change{
			key: hashKey(seen.hash), add: item{"used": number(1)},
			condition: "attribute_exists(#pk) AND (attribute_not_exists(#limit) OR attribute_not_exists(#used) OR #used < #limit)",
			refused:   refusal(lipsync.TokenLimit, "token limit reached"),
		}.step(s.table))
	}
	steps = append(steps, s.countCreated(r.Request))
	if r.ReferenceID != "" {
		steps = append(steps, count(counterKey(r.Account, r.ReferenceID), seen.referenceTotal).step(s.table))
	}
	var refused error = errors.New("the request exists already")
	for n, i := range r.items() {
		if n == 2 {
			refused = moved{} // the others are places in lists, which the counters give
		}
		steps = append(steps, s.put(i, "attribute_not_exists(#pk)", nil, refused))
	}
	if idem != nil {
		steps = append(steps, s.put(newIdempotency(r.Request, *idem), "attribute_not_exists(#pk) OR #expiresAt <= :now",
			item{":now": micros(r.CreatedAt)}, moved{}))
	}
	for _, id := range slices.Compact(uploads) {
		steps = append(steps, useUpload(id, r.Request, keep.InputLife()).step(s.table))
	}
	return steps
}

// count adds one to a counter that still is as it was seen.
func count(key item, seen int64) change {
	return change{
		key: key, set: item{"total": number(seen + 1)},
		condition: "attribute_not_exists(#total) OR #total = :seen", values: item{"seen": number(seen)},
		refused: moved{},
	}
}

// put writes a whole item.
func (s *Store) put(i item, condition string, values item, refused error) step {
	return step{types.TransactWriteItem{Put: &types.Put{
		TableName: &s.table, Item: i,
		ConditionExpression:      aws.String(condition),
		ExpressionAttributeNames: names(condition), ExpressionAttributeValues: values,
	}}, refused}
}

func idempotencyKey(account, name string) item {
	return key("idempotency/"+digest(account)+"/"+digest(name), "idempotency")
}

// record is what is kept of an idempotency key.
type record struct {
	fingerprint [32]byte
	requestID   string
	expiresAt   time.Time
}

func (r *record) fields() []field {
	return []field{{"fingerprint", &r.fingerprint}, {"requestID", &r.requestID}, {"expiresAt", &r.expiresAt}}
}

func newIdempotency(r lipsync.Request, idem lipsync.Idempotency) item {
	i := encode((&record{idem.Fingerprint, r.ID, idem.ExpiresAt}).fields())
	i[TimeToLive] = expiry(idem.ExpiresAt)
	return with(i, idempotencyKey(r.Account, idem.Key))
}

// Replayed implements lipsync.Requests.
func (s *Store) Replayed(ctx context.Context, account string, idem lipsync.Idempotency, now time.Time) (string, error) {
	i, err := s.get(ctx, idempotencyKey(account, idem.Key))
	if err != nil {
		return "", err
	}
	id, err := replay(i, idem, now)
	if err == nil && id == "" {
		err = notFound()
	}
	return id, err
}

// replay returns the id of the request that the idempotency key made, or "".
func replay(i item, idem lipsync.Idempotency, now time.Time) (id string, err error) {
	var earlier record
	if err := decode(i, earlier.fields()); err != nil || !now.Before(earlier.expiresAt) {
		return "", err
	}
	if earlier.fingerprint != idem.Fingerprint {
		return "", refusal(lipsync.Reused, "idempotency key reused")
	}
	return earlier.requestID, nil
}
