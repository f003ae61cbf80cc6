package dynamodb

import (
	"context"
	"math"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// Waiting implements lipsync.Demand. It counts the waiting requests of all shards, and the
// postponed ones that are due.
func (s *Store) Waiting(ctx context.Context, now time.Time, limit int) (int, error) {
	all, err := total(2*queueShards, func(i int) (int, error) {
		in := inQueueAfter(i/2, "")
		if i%2 == 1 {
			in = dueAt(i/2, now)
		}
		return s.count(ctx, limit, in)
	})
	return min(all, limit), err
}

// count returns how many items the query finds, at most limit.
func (s *Store) count(ctx context.Context, limit int, in *dynamodb.QueryInput) (n int, err error) {
	if limit <= 0 {
		return 0, nil
	}
	in.TableName, in.Select = &s.table, types.SelectCount
	in.Limit = aws.Int32(int32(min(limit, math.MaxInt32))) // the size of a page: the paginator sets it again
	in.ExpressionAttributeNames = names(aws.ToString(in.KeyConditionExpression))
	for pages := dynamodb.NewQueryPaginator(s.client, in); pages.HasMorePages() && n < limit; {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return 0, s.explain(err)
		}
		n += int(page.Count)
	}
	return n, nil
}

// recentWork is the largest number of requests whose times count in full in the mean. Beyond it,
// the counts are halved, so that newer requests count more.
const recentWork = 1000

// pool is the item that stores the end of the scaling lock, and the working time of all workers:
// that of recent requests, and in the attribute "all" the total.
type pool struct {
	until  time.Time // end of the scaling lock
	done   int64     // number of recent requests
	worked time.Duration
}

func poolKey() item { return key(PoolKey, "pool") }

func (p *pool) fields() []field {
	return []field{{"until", &p.until}, {"done", &p.done}, {"worked", &p.worked}}
}

// clockSkew is the largest difference between the clocks of two processes. Package cloud corrects
// larger ones.
const clockSkew = 10 * time.Second

// LockScaling implements lipsync.Demand. A stored lock that ends more than clockSkew later than a
// lock that begins now comes from a wrong clock, so it counts as ended.
func (s *Store) LockScaling(ctx context.Context, now, until time.Time) (mean time.Duration, err error) {
	var p pool
	i, err := s.get(ctx, poolKey())
	if failure.CodeOf(err) == failure.NotFound {
		i, err = nil, nil
	}
	if err == nil {
		err = decode(i, p.fields())
	}
	if err != nil {
		return 0, err
	}
	wait := p.until.Sub(now)
	if wait > 0 && wait <= until.Sub(now)+clockSkew {
		return 0, taken(wait)
	}
	c := change{
		key: poolKey(), set: item{"until": micros(until)},
		condition: "attribute_not_exists(#until)", refused: taken(until.Sub(now)),
	}
	if !p.until.IsZero() {
		c.condition, c.values = "#until = :seen", item{"seen": micros(p.until)}
	}
	if p.done > recentWork {
		c.add = item{"done": number(-p.done / 2), "worked": number(-p.worked.Microseconds() / 2)}
	}
	if _, err = s.update(ctx, c); err != nil || p.done == 0 {
		return 0, err
	}
	return p.worked / time.Duration(p.done), nil
}

// taken returns the refusal for a scaling lock that another process holds.
func taken(wait time.Duration) error {
	return &failure.Error{Code: failure.Conflict, Message: "another starts workers", RetryAfter: wait}
}

var _ lipsync.Demand = (*Store)(nil)

func (s *Store) Worked(ctx context.Context, took time.Duration) (all time.Duration, err error) {
	some := number(took.Microseconds())
	update, values := change{add: item{"done": number(1), "worked": some, "all": some}}.expression()
	out, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: poolKey(), UpdateExpression: &update,
		ExpressionAttributeNames: names(update), ExpressionAttributeValues: values,
		ReturnValues: types.ReturnValueAllNew,
	})
	if err != nil {
		return 0, s.explain(err)
	}
	err = decode(out.Attributes, []field{{"all", &all}})
	return all, err
}
