package queue

import (
	"cmp"
	"context"
	"maps"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/table"
)

// Waiting counts the waiting requests of all shards, and the
// postponed ones that are due, of which upkeep leaves few.
func (q *Queue) Waiting(ctx context.Context, now, by time.Time, limit int) (all, old lipsync.Waiting, err error) {
	all, old = lipsync.Waiting{}, lipsync.Waiting{}
	classes := lipsync.Classes()
	var mu sync.Mutex // of all and old
	add := func(c lipsync.Class, n, aged int) {
		mu.Lock()
		defer mu.Unlock()
		all[c], old[c] = min(all[c]+n, limit), min(old[c]+aged, limit)
	}
	queries := len(classes) + 1 // of a shard
	err = table.Together(queries*queueShards, func(i int) error {
		shard, kind := i/queries, i%queries
		if kind < len(classes) {
			in := inQueue(shard, beginOf[classes[kind]], endOf(classes[kind]))
			in.FilterExpression = aws.String("#createdAt <= :by")
			in.ExpressionAttributeValues[":by"] = table.Micros(by)
			n, aged, err := q.table.CountBoth(ctx, limit, in)
			add(classes[kind], n, aged)
			return err
		}
		if limit <= 0 {
			return nil
		}
		due, err := q.readEntries(ctx, len(classes)*limit, dueAt(shard, now))
		for _, e := range due {
			add(e.class, 1, 1) // they have been claimed before
		}
		return err
	})
	return all, old, err
}

// recentWork is the largest number of requests whose times count in full in the mean. Beyond it,
// the counts are halved, so that newer requests count more.
const recentWork = 1000

// pool is the item that stores the ends of the locks, and the working time of workers:
// that of recent requests by class, and the totals of the Pool and the NeuralPool; see totalOf.
type pool struct {
	recent map[lipsync.Class]*recent
	steady [2]int // the last two numbers that Steady got, the newest first
}

func newPool() *pool {
	p := &pool{recent: map[lipsync.Class]*recent{}}
	for _, c := range lipsync.Classes() {
		p.recent[c] = &recent{}
	}
	return p
}

// recent has the sums of recent requests of a class.
type recent struct {
	done   int64
	worked time.Duration
}

func (r *recent) fields(c lipsync.Class) table.Fields {
	name := cmp.Or(string(c), "small")
	return table.Fields{name: &r.done, name + "Worked": &r.worked}
}

func (r recent) mean() time.Duration {
	if r.done == 0 {
		return 0
	}
	return r.worked / time.Duration(r.done)
}

func poolKey() table.Item { return table.Key(PoolKey, "pool") }

func (p *pool) fields() table.Fields {
	all := table.Fields{"steady": &p.steady[0], "steadyBefore": &p.steady[1]}
	for c, r := range p.recent {
		maps.Copy(all, r.fields(c))
	}
	return all
}

// clockSkew is the largest difference between the clocks of two processes. Package cloud corrects
// larger ones.
const clockSkew = 10 * time.Second

func (q *Queue) LockScaling(ctx context.Context, now, until time.Time) (lipsync.Means, error) {
	return q.lock(ctx, "until", now, until)
}

func (q *Queue) LockSmall(ctx context.Context, now, until time.Time) (lipsync.Means, error) {
	return q.lock(ctx, "smallUntil", now, until)
}

// lock takes one of the locks in the item. A stored lock that ends more than clockSkew later than a
// lock that begins now comes from a wrong clock, so it counts as ended.
func (q *Queue) lock(ctx context.Context, name string, now, until time.Time) (means lipsync.Means, err error) {
	p := newPool()
	var seen time.Time
	i, err := q.table.Find(ctx, poolKey())
	if err == nil {
		err = table.Decode(i, table.With(p.fields(), table.Fields{name: &seen}))
	}
	if err != nil {
		return means, err
	}
	wait := seen.Sub(now)
	if wait > 0 && wait <= until.Sub(now)+clockSkew {
		return means, taken(wait)
	}
	c := table.Change{
		Key: poolKey(), Set: table.Item{name: table.Micros(until)},
		Condition: "attribute_not_exists(#" + name + ")", Refused: taken(until.Sub(now)),
	}
	if !seen.IsZero() {
		c.Condition, c.Values = "#"+name+" = :seen", table.Item{"seen": table.Micros(seen)}
	}
	c.Add = table.Item{}
	means = lipsync.Means{}
	for class, r := range p.recent {
		means[class] = r.mean()
		if half := (recent{-r.done / 2, -r.worked / 2}); r.done > recentWork {
			maps.Copy(c.Add, table.Encode(half.fields(class)))
		}
	}
	if _, err = q.table.Update(ctx, c); err != nil {
		return nil, err
	}
	return means, nil
}

// taken returns the refusal for a lock that another process holds.
func taken(wait time.Duration) error {
	return &failure.Error{Code: failure.Conflict, Message: "another starts workers", RetryAfter: wait}
}

func (q *Queue) Steady(ctx context.Context, running int) (least int, err error) {
	p := newPool()
	i, err := q.table.Get(ctx, poolKey())
	if err == nil {
		err = table.Decode(i, p.fields())
	}
	if err != nil {
		return 0, err
	}
	_, err = q.table.Update(ctx, table.Change{Key: poolKey(), Set: table.Item{"steady": table.Number(int64(running)), "steadyBefore": table.Number(int64(p.steady[0]))}})
	return min(running, p.steady[0], p.steady[1]), err
}

var _ lipsync.Demand = (*Queue)(nil)

// totalOf returns the name of the attribute with the total time for which the workers with the duty had requests.
func totalOf(d lipsync.Duty) string {
	if d == lipsync.DoesNeural {
		return "allNeural"
	}
	return "all"
}

func (q *Queue) Worked(ctx context.Context, w lipsync.Stint) (all time.Duration, err error) {
	c := table.Change{Key: poolKey(), Add: table.Encode((&recent{1, w.Took}).fields(w.Class)), Tells: true}
	if w.Duty != lipsync.DoesSmall {
		c.Add[totalOf(w.Duty)] = table.Number(w.Took.Microseconds())
	}
	i, err := q.table.Update(ctx, c)
	if err == nil {
		err = table.Decode(i, table.Fields{totalOf(w.Duty): &all})
	}
	return all, err
}
