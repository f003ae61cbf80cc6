package dynamodb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/callers"
	"lipsync/internal/store/dynamodb/queue"
	"lipsync/internal/store/dynamodb/table"
)

// Create reads a snapshot, then writes on the condition that
// nothing in the snapshot has changed. Then it adds the request to its lists.
func (s requests) Create(ctx context.Context, r lipsync.Request, uploads []string, idem *lipsync.Idempotency, limits lipsync.Limits) (created lipsync.Request, replayed bool, err error) {
	c := create{Store: s.Store, request: r, uploads: uploads, idem: idem, limits: limits, lane: table.ShardOf(r.ID, openLanes(limits.Open))}
	if c.refused, err = s.full(ctx, r.Account, r.CreatedAt, limits); err != nil { // once for all tries: a create takes less time than any upload or render
		return lipsync.Request{}, false, err
	}
	if err = table.RetryConflicts(ctx, func(int) error { return c.try(ctx) }); err == nil && !c.replayed {
		if err := s.enlistAll(context.WithoutCancel(ctx), c.made); err != nil {
			// The request exists, so the error must not be a refusal. The first claim of the
			// request adds it to its lists.
			return lipsync.Request{}, false, fmt.Errorf("list the request %s: %v", r.ID, err)
		}
	}
	if err != nil {
		return lipsync.Request{}, false, err
	}
	return c.made.Request, c.replayed, nil
}

// create is the state of one call of Create, which makes several tries if there are conflicts.
type create struct {
	*Store
	request lipsync.Request
	uploads []string
	idem    *lipsync.Idempotency
	limits  lipsync.Limits
	lane    int // the lane in which it counts as an open request

	refused  error // why the create is refused, unless it turns out to be a replay
	made     stored
	replayed bool
}

func (c *create) try(ctx context.Context) error {
	seen, err := c.readSnapshot(ctx, c.request, c.idem)
	switch {
	case err != nil:
		return err
	case seen.earlier != "":
		c.replayed = true
		c.made, err = c.replayOf(ctx, seen.earlier)
		return err
	case c.refused != nil:
		return c.refused
	}
	r, err := c.request.Created(seen.webhooks)
	if err != nil {
		return err
	}
	c.made = stored{Request: r, keep: c.limits.Keep.RecordLife(), version: 1, bucket: seen.bucket, referenceBucket: seen.reference.bucket}
	err = c.write(ctx, seen)
	if failure.CodeOf(err) == failure.TokenLimit {
		err = cmp.Or(seen.use.Settle(ctx, c.table), err)
	}
	if _, ok := errors.AsType[*failure.Error](err); ok && c.idem != nil {
		// A create with the same idempotency key may have succeeded just before and used up a
		// limit. Then this one is its replay.
		c.refused, err = err, table.Conflict{}
	}
	return err
}

// write writes the request if its lane is not full. Otherwise it finds another lane.
func (c *create) write(ctx context.Context, seen snapshot) error {
	err := c.table.Transact(ctx, c.creation(c.made, seen, c.uploads, c.idem, c.limits, c.lane))
	if err == error(laneFull{}) {
		c.lane, err = c.findLane(ctx, queue.OwnerOf(c.request), c.limits.Open)
	}
	return err
}

// replayOf returns the request that was made with the idempotency key.
func (s *Store) replayOf(ctx context.Context, id string) (stored, error) {
	r, err := s.request(ctx, id)
	if failure.CodeOf(err) == failure.NotFound { // it was erased
		return stored{Request: lipsync.Request{ID: id}}, nil
	}
	if err == nil {
		err = s.makeListed(ctx, r)
	}
	return r, err
}

// snapshot has the data that a create depends on, as they were read.
type snapshot struct {
	head                  // of the account's list
	reference head        // of the list of the reference id
	use       callers.Use // of the key that makes the request
	webhooks  lipsync.AccountWebhooks
	earlier   string // id of the request made with the idempotency key, or ""
}

func (s *Store) readSnapshot(ctx context.Context, r lipsync.Request, idem *lipsync.Idempotency) (seen snapshot, err error) {
	keys := callers.UseKeys(r.KeyID)
	n := len(keys)
	keys = append(keys, headKey(list(queue.OwnerOf(r), "")), webhooksKey(r.Account))
	if r.ReferenceID != "" {
		keys = append(keys, headKey(list(queue.OwnerOf(r), r.ReferenceID)))
	}
	if idem != nil {
		keys = append(keys, idempotencyKey(r.Account, idem.Key))
	}
	found, err := s.table.GetAll(ctx, keys)
	if err != nil {
		return snapshot{}, err
	}
	if idem != nil {
		if seen.earlier, err = replay(found[len(found)-1], *idem, r.CreatedAt); err != nil {
			return snapshot{}, err
		}
	}
	seen.use, err = callers.DecodeUse(r.KeyID, found[:n])
	found = found[n:]
	if err = errors.Join(err, table.Decode(found[0], seen.head.fields())); err == nil {
		seen.webhooks, err = decodeWebhooks(found[1])
	}
	if r.ReferenceID != "" {
		err = errors.Join(err, table.Decode(found[2], seen.reference.fields()))
	}
	return seen, err
}

// creation returns the steps that create a request, except those for its lists.
func (s *Store) creation(r stored, seen snapshot, uploads []string, idem *lipsync.Idempotency, limits lipsync.Limits, lane int) []table.Step {
	steps := []table.Step{s.table.UpdateStep(countOpened(queue.OwnerOf(r.Request), lane, limits.Open))}
	if r.KeyID != "" {
		steps = append(steps, s.table.UpdateStep(seen.use.Count(r.ID)))
	}
	exists := errors.New("the request exists already")
	if r.Kind == lipsync.ToRender {
		steps = append(steps, s.countCreated(r.Request))
	}
	steps = append(steps, s.countRecord(r.Account, r.ID, r.CreatedAt, r.RecordSize()),
		s.table.PutStep(r.item(), "attribute_not_exists(#pk)", nil, exists), s.table.PutStep(r.entryItem(), "", nil, nil))
	if idem != nil {
		steps = append(steps, s.table.PutStep(newIdempotency(r.Request, *idem), "attribute_not_exists(#pk) OR #expiresAt <= :now",
			table.Item{"now": table.Micros(r.CreatedAt)}, table.Conflict{}))
	}
	for _, id := range slices.Compact(uploads) {
		steps = append(steps, s.table.UpdateStep(useUpload(id, r.Request, limits.Keep.InputLife())))
	}
	return steps
}

func idempotencyKey(account, name string) table.Item {
	return table.Key("idempotency/"+table.Digest(account)+"/"+table.Digest(name), "idempotency")
}

// record is the record of an idempotency key.
type record struct {
	fingerprint [32]byte
	requestID   string
	expiresAt   time.Time
}

func (r *record) fields() table.Fields {
	return table.Fields{"fingerprint": &r.fingerprint, "requestID": &r.requestID, "expiresAt": &r.expiresAt}
}

func newIdempotency(r lipsync.Request, idem lipsync.Idempotency) table.Item {
	i := table.Encode((&record{idem.Fingerprint, r.ID, idem.ExpiresAt}).fields())
	i[table.TimeToLive] = table.Expiry(idem.ExpiresAt)
	return table.With(i, idempotencyKey(r.Account, idem.Key))
}

func (s requests) Replayed(ctx context.Context, account string, idem lipsync.Idempotency, now time.Time) (string, error) {
	i, err := s.table.Get(ctx, idempotencyKey(account, idem.Key))
	if err != nil {
		return "", err
	}
	id, err := replay(i, idem, now)
	if err == nil && id == "" {
		err = table.NotFound()
	}
	return id, err
}

// replay returns the id of the request that was made with the idempotency key, or "".
func replay(i table.Item, idem lipsync.Idempotency, now time.Time) (id string, err error) {
	var earlier record
	if err := table.Decode(i, earlier.fields()); err != nil || !now.Before(earlier.expiresAt) {
		return "", err
	}
	if earlier.fingerprint != idem.Fingerprint {
		return "", failure.New(failure.Reused, "idempotency key reused")
	}
	return earlier.requestID, nil
}
