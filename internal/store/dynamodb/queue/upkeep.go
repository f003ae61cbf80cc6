package queue

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"lipsync/internal/store/dynamodb/table"
)

// atOnce is the number of items that Upkeep changes at once.
const atOnce = 16

// Upkeep puts requests that may be claimed again into the queue.
func (q *Queue) Upkeep(ctx context.Context, now time.Time) error {
	return table.Together(queueShards, func(n int) error {
		return errors.Join(q.queueDue(ctx, n, now), q.queueDead(ctx, n, now))
	})
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
func (q *Queue) queueDue(ctx context.Context, n int, now time.Time) error {
	due, err := q.readEntries(ctx, math.MaxInt, dueAt(n, now))
	if err != nil {
		return err
	}
	return forEach(due, func(e entry) error { return q.enqueue(ctx, e) })
}

// queueDead puts those requests of shard n into the queue whose lease has ended.
func (q *Queue) queueDead(ctx context.Context, n int, now time.Time) error {
	all, err := q.readEntries(ctx, math.MaxInt, heldIn(n))
	if err != nil {
		return err
	}
	var old, dead []entry
	for _, e := range all {
		if !e.until.After(now) {
			old = append(old, e)
		}
	}
	ends, err := q.leases(ctx, old)
	for _, e := range old {
		if end, ok := ends[e.id]; ok && !end.After(now) {
			dead = append(dead, e)
		}
	}
	return errors.Join(err, forEach(dead, func(e entry) error { return q.enqueue(ctx, e) }))
}

// enqueue puts an entry into the queue, unless its place has changed since it was read.
func (q *Queue) enqueue(ctx context.Context, e entry) error {
	_, err := q.table.Update(ctx, table.Change{
		Key: EntryKey(e.id), Set: e.inQueue(make(table.Item)), Remove: []string{"until"},
		Condition: "#openAt = :seen", Values: table.Item{"seen": table.Text(e.place)},
	})
	return err
}
