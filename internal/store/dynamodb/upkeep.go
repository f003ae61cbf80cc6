package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"lipsync/internal/domain/lipsync"
)

// atOnce is the number of items that Upkeep changes at once.
const atOnce = 16

// Upkeep implements lipsync.Leases. It puts requests that may be claimed again into the queue, and
// rewrites items of older versions in this version's layout.
func (s leases) Upkeep(ctx context.Context, now time.Time) error {
	return errors.Join(s.upgradeRequests(ctx, now), s.upgradeKeys(ctx), together(queueShards, func(n int) error {
		return errors.Join(s.queueDue(ctx, n, now), s.queueDead(ctx, n, now))
	}))
}

// forEach calls f for each element, several at once.
func forEach[T any](all []T, f func(T) error) error {
	var mu sync.Mutex
	var errs []error
	var workers sync.WaitGroup
	for n := range min(atOnce, len(all)) {
		workers.Go(func() {
			for i := n; i < len(all); i += atOnce {
				if err := f(all[i]); err != nil {
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
				}
			}
		})
	}
	workers.Wait()
	return errors.Join(errs...)
}

// queueDue puts those postponed requests of shard n into the queue that are due.
func (s *Store) queueDue(ctx context.Context, n int, now time.Time) error {
	due, err := s.readEntries(ctx, math.MaxInt, dueAt(n, now))
	if err != nil {
		return err
	}
	return forEach(due, func(e entry) error { return s.enqueue(ctx, e) })
}

// queueDead puts those requests of shard n into the queue whose lease has ended.
func (s *Store) queueDead(ctx context.Context, n int, now time.Time) error {
	in := inPartition(shard(held, n))
	in.KeyConditionExpression = aws.String("#open = :open AND #openAt < :off")
	in.ExpressionAttributeValues[":off"] = text(postponed)
	all, err := s.readEntries(ctx, math.MaxInt, in)
	if err != nil {
		return err
	}
	var old, dead []entry
	for _, e := range all {
		if !e.until.After(now) {
			old = append(old, e)
		}
	}
	ends, err := s.leases(ctx, old)
	for _, e := range old {
		if end, ok := ends[e.id]; ok && !end.After(now) {
			dead = append(dead, e)
		}
	}
	return errors.Join(err, forEach(dead, func(e entry) error { return s.enqueue(ctx, e) }))
}

// enqueue puts an entry into the queue, unless its place has changed since it was read.
func (s *Store) enqueue(ctx context.Context, e entry) error {
	r := stored{Request: lipsync.Request{ID: e.id, Account: e.account, CreatedAt: e.created}}
	_, err := s.update(ctx, change{
		key: entryKey(e.id), set: r.inQueue(make(item)), remove: []string{"until"},
		condition: "#openAt = :seen", values: item{"seen": text(e.place)},
	})
	return err
}

// upgradeRequests rewrites open requests in this version's layout. It leaves those that a worker
// of an older version holds.
func (s *Store) upgradeRequests(ctx context.Context, now time.Time) error {
	var ids []string
	for _, partition := range []string{olderOpen, olderHeld} {
		for i, err := range s.query(ctx, math.MaxInt, inPartition(partition)) {
			if err != nil {
				return err
			}
			r, err := decodeRequest(i, nil)
			if err != nil {
				return err
			}
			if r.claimable(now) {
				ids = append(ids, r.ID)
			}
		}
	}
	if err := forEach(ids, func(id string) error {
		_, err := s.change(ctx, id, func(r stored) (stored, error) {
			if r.heldByOlder && !r.claimable(now) {
				return stored{}, errHeld // changed since the query
			}
			return r, nil
		})
		return unlessHeld(err)
	}); err != nil {
		return err
	}
	left, err := s.collect(ctx, math.MaxInt, inPartition(olderQueue)) // entries of final requests
	return errors.Join(err, forEach(left, func(f found) error { return s.repairEntry(ctx, f.id) }))
}

// errHeld says that a worker of an older version holds a request. That worker looks for its lease
// in the request itself, so the request must stay as it is.
var errHeld = errors.New("held by a worker of an older version")

func unlessHeld(err error) error {
	if errors.Is(err, errHeld) {
		return nil
	}
	return err
}

// upgradeKeys moves the pointers to API keys, which the oldest versions kept in one partition. It
// reports the pointers that can't be moved, and moves the others.
func (s *Store) upgradeKeys(ctx context.Context) error {
	var errs []error
	for i, err := range s.query(ctx, math.MaxInt, &dynamodb.QueryInput{
		KeyConditionExpression:    aws.String("#pk = :keys"),
		ExpressionAttributeValues: item{":keys": text(allKeys)},
		ConsistentRead:            aws.Bool(true),
	}) {
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		if err := s.upgradeKey(ctx, i); err != nil {
			var sort string
			_ = decode(i, []field{{SortKey, &sort}}) // a string in every item
			errs = append(errs, fmt.Errorf("move the pointer to a key (pk %s, sk %s): %w", allKeys, sort, err))
		}
	}
	return errors.Join(errs...)
}

func (s *Store) upgradeKey(ctx context.Context, pointer item) error {
	var k lipsync.Key
	if err := decode(pointer, keyFields(&k)); err != nil {
		return err
	}
	i, err := s.get(ctx, hashKey(k.Hash))
	if err == nil {
		err = decode(i, keyFields(&k))
	}
	if err != nil {
		return err
	}
	return retryConflicts(ctx, func(int) error {
		steps := []step{s.remove(keyOf(pointer), "", nil)}
		for _, i := range pointers(k) {
			steps = append(steps, s.put(i, "", nil, nil))
		}
		return s.transact(ctx, steps)
	})
}
