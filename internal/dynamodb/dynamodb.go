// Package dynamodb keeps the service's records in one table of DynamoDB.
//
// Every read by key is strongly consistent. The index is not: what it says is a
// hint, which a conditional write or a read by key then confirms.
package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/lipsync"
)

// Store has the ports of lipsync.Store, and implements lipsync.Demand, on one table.
type Store struct {
	lipsync.Store
	client API
	table  string
}

// API has the calls of DynamoDB that a Store makes: *dynamodb.Client has them.
type API interface {
	dynamodb.QueryAPIClient
	GetItem(ctx context.Context, in *dynamodb.GetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, options ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, options ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, options ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// On returns the store on a table that is reached by other means than HTTP, which are to
// try again what was throttled.
func On(client API, table string) *Store {
	s := &Store{client: client, table: table}
	s.Store = lipsync.Store{Requests: requests{s}, Leases: leases{s}, Keys: keys{s}, Uploads: uploads{s}, Rates: rates{s}}
	return s
}

// New returns the store on the table.
//
// A call that was throttled or whose answer was lost is made again, up to 8 times
// in all within some 5 seconds: a transaction under the token of its first try, so
// that it is done once.
func New(cfg aws.Config, table string) *Store {
	return On(dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.Retryer = retry.AddWithErrorCodes(retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = 8
			o.Backoff = retry.BackoffDelayerFunc(func(n int, _ error) (time.Duration, error) { return rand.N(backoff(n)), nil })
		}), "TransactionConflictException") // a write outside a transaction met one
	}), table)
}

// patience is how long a change that others' changes forestall is tried. The API
// has 29 seconds for an answer.
const patience = 20 * time.Second

// moved is the error of a change that was not done because another came first,
// or because the table is too busy for it.
type moved struct{}

func (moved) Error() string { return "too many changes of the same records at a time" }

// busy refuses what was forestalled for too long. Those who are refused at the
// same time are not to come back at the same time.
func busy(err error) error {
	return &lipsync.Error{
		Code: lipsync.RateLimited, Message: "rate limit exceeded", Err: err,
		RetryAfter: time.Second + rand.N(9*time.Second),
	}
}

// patiently calls try, again for as long as it returns moved. n is how often it
// was called before.
//
// Of those who try to change the same records at the same time one succeeds, so
// the more there are, the longer the pauses have to be: up to four times as long
// as the first try took, and each time four times as long again. But none takes
// more than a quarter of the patience that is left: who waits longest tries most
// often.
func patiently(ctx context.Context, try func(n int) error) error {
	start := time.Now()
	var bound time.Duration
	for n := 0; ; n++ {
		err := try(n)
		if !errors.Is(err, moved{}) {
			return err
		}
		took := time.Since(start)
		if took >= patience {
			return busy(err)
		}
		if n == 0 {
			bound = took
		}
		bound = min(4*bound, (patience-took)/4)
		if err := pause(ctx, bound); err != nil {
			return err
		}
	}
}

// pause waits for any time up to the bound.
func pause(ctx context.Context, bound time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(rand.N(bound + 1)):
		return nil
	}
}

// backoff bounds the pause after a call that failed through no fault of ours, the
// nth time from 0: 25 ms, and twice as much each time, up to 1.6 s.
func backoff(n int) time.Duration { return 25 * time.Millisecond << min(n, 6) }

// get returns the item with the key, strongly consistent. NotFound if none.
func (s *Store) get(ctx context.Context, key item) (item, error) {
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.table, Key: key, ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, s.explain(err)
	}
	if out.Item == nil {
		return nil, notFound()
	}
	return out.Item, nil
}

// maxBatch is how many items one call reads by their keys, and maxPage by a query.
const (
	maxBatch = 100
	maxPage  = 1000
)

// getAll returns the items with the keys, strongly consistent, nil for those
// that there are not. Each is of a time of its own. A key that is there twice is asked for once.
func (s *Store) getAll(ctx context.Context, keys []item) ([]item, error) {
	found := make(map[string]item)
	var wanted []item
	for _, key := range keys {
		if _, ok := found[address(key)]; !ok {
			found[address(key)] = nil
			wanted = append(wanted, key)
		}
	}
	for n := 0; len(wanted) > 0; n++ {
		batch := wanted[:min(len(wanted), maxBatch)]
		out, err := s.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{s.table: {Keys: batch, ConsistentRead: aws.Bool(true)}},
		})
		if err != nil {
			return nil, s.explain(err)
		}
		for _, i := range out.Responses[s.table] {
			found[address(i)] = i
		}
		left := out.UnprocessedKeys[s.table].Keys
		if wanted = append(left[:len(left):len(left)], wanted[len(batch):]...); len(left) > 0 {
			if err := pause(ctx, backoff(n)); err != nil {
				return nil, err
			}
		}
	}
	all := make([]item, len(keys))
	for i, key := range keys {
		all[i] = found[address(key)]
	}
	return all, nil
}

// query returns up to limit of what the query finds, page after page as they
// are asked for.
func (s *Store) query(ctx context.Context, limit int, in *dynamodb.QueryInput) iter.Seq2[item, error] {
	in.TableName, in.Limit = &s.table, aws.Int32(int32(min(limit, maxPage)))
	if in.FilterExpression != nil {
		in.Limit = aws.Int32(maxPage) // of what is looked at
	}
	in.ExpressionAttributeNames = names(aws.ToString(in.KeyConditionExpression), aws.ToString(in.FilterExpression), aws.ToString(in.ProjectionExpression))
	return func(yield func(item, error) bool) {
		for pages := dynamodb.NewQueryPaginator(s.client, in); pages.HasMorePages(); {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(nil, s.explain(err))
				return
			}
			for _, i := range page.Items {
				limit--
				if !yield(i, nil) || limit == 0 {
					return
				}
			}
		}
	}
}

// explain says in plain words what the operator is to mend, and what the client
// is to wait for.
func (s *Store) explain(err error) error {
	if _, ok := errors.AsType[*types.TransactionConflictException](err); ok || throttled(err) {
		return busy(err)
	}
	if _, ok := errors.AsType[*types.ResourceNotFoundException](err); ok {
		return fmt.Errorf("there is no table %s in this region and account", s.table)
	}
	return err
}

// throttled reports whether AWS did not do a call, since the table or a partition has too many.
func throttled(err error) bool {
	_, table := errors.AsType[*types.ThrottlingException](err)
	_, partition := errors.AsType[*types.ProvisionedThroughputExceededException](err)
	_, account := errors.AsType[*types.RequestLimitExceeded](err)
	return table || partition || account
}

// refusal is an error that a port's comment names. The domain knows the words
// for it.
func refusal(code lipsync.Code, message string) error {
	return &lipsync.Error{Code: code, Message: message}
}

func notFound() error { return refusal(lipsync.NotFound, "not found") }
