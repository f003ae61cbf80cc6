// Package dynamodb keeps the service's records in one DynamoDB table.
//
// Every read by key is strongly consistent. Reads of the index are not: what the index says is a
// hint, which a conditional write or a read by key then confirms.
package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// Store implements the ports of lipsync.Store, and lipsync.Demand, on one table.
type Store struct {
	lipsync.Store
	client API
	table  string

	// MostHeld is the number of held requests from which on the next request can't be claimed, so that a runner in wrong hands can't claim all that wait;
	// 0 for none. It isn't kept to the last one: claims of other processes in the last second may be missing.
	MostHeld int

	// SurveyLife is the time for which places in the queue come from the same survey, so that a process that many clients ask for
	// places leaves the queue's partitions to claims. 0 means a survey for each place.
	SurveyLife time.Duration

	lastSurvey struct {
		sync.Mutex
		*survey
		at time.Time
	}
	lastHeld heldCount
}

// API is the part of DynamoDB's API that a Store calls. *dynamodb.Client implements it.
type API interface {
	dynamodb.QueryAPIClient
	GetItem(ctx context.Context, in *dynamodb.GetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, options ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, options ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, options ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// On returns the store on the table, which it calls by the client. The client may be a table in
// memory. It must retry throttled calls itself.
func On(client API, table string) *Store {
	s := &Store{client: client, table: table}
	s.Store = lipsync.Store{Requests: requests{s}, Leases: leases{s}, Keys: keys{s}, Uploads: uploads{s}, Rates: rates{s}, Webhooks: webhooks{s}, Speeds: speeds{s}, Batches: batches{s}, Calls: calls{s}}
	return s
}

// New returns the store on the table of AWS.
//
// The store makes a call again if it was throttled or its answer was lost, up to 8 times within
// about 5 seconds. A repeated transaction has the token of its first try, so it is done only once.
func New(cfg aws.Config, table string) *Store {
	return On(dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.Retryer = retry.AddWithErrorCodes(retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = 8
			o.RateLimiter = ratelimit.NewTokenRateLimit(retryTokens)
			o.Backoff = retry.BackoffDelayerFunc(func(n int, _ error) (time.Duration, error) { return rand.N(backoff(n)), nil })
		}), "TransactionConflictException") // a write that met a transaction on the same item
	}), table)
}

// retryTokens lets all the calls that count the waiting requests together, some 32, be tried 8 times each: a retry takes
// retry.DefaultRetryCost tokens, which come back when a call succeeds. With the usual 500 a busy table failed the sweep.
const retryTokens = 2000

// retryTime is the time for which a change is retried while other changes conflict with it. The
// API must answer within 29 seconds.
const retryTime = 20 * time.Second

// conflict is the error of a change that was not made because another change came first, or
// because the table is too busy.
type conflict struct{}

func (conflict) Error() string { return "too many changes of the same records at a time" }

// busy returns the refusal for a change that conflicted for too long. The time to come back is
// random, so that clients refused at the same time do not return at the same time.
func busy(err error) error {
	return failure.RateLimit(time.Second+rand.N(9*time.Second), err)
}

// retryConflicts calls try until it returns something other than conflict. n is the number of
// calls before.
//
// Only one of several simultaneous changes of the same records succeeds, so the pauses between
// tries must be longer the more changes there are. Each pause has a random length. The first is
// at most four times as long as the first try took; the bound of each later pause is four times
// the one before. No pause is longer than a quarter of the retry time that is left, so the changes
// that have waited longest are tried most often.
func retryConflicts(ctx context.Context, try func(n int) error) error {
	start := time.Now()
	var bound time.Duration
	for n := 0; ; n++ {
		err := try(n)
		if !errors.Is(err, conflict{}) {
			return err
		}
		took := time.Since(start)
		if took >= retryTime {
			return busy(err)
		}
		if n == 0 {
			bound = took
		}
		bound = min(4*bound, (retryTime-took)/4)
		if err := pause(ctx, bound); err != nil {
			return err
		}
	}
}

// pause waits for a random time up to the bound.
func pause(ctx context.Context, bound time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(rand.N(bound + 1)):
		return nil
	}
}

// backoff returns the bound of the pause after the nth call (from 0) that failed for a reason
// outside this program: 25 ms, doubled each time, up to 1.6 s.
func backoff(n int) time.Duration { return 25 * time.Millisecond << min(n, 6) }

// get returns the item with the key by a strongly consistent read, or NotFound.
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

// find does what get does, but a missing item is nil, and no error.
func (s *Store) find(ctx context.Context, key item) (item, error) {
	i, err := s.get(ctx, key)
	return i, failure.Unless(failure.NotFound, err)
}

// maxBatch is the most items that one call reads by key; maxPage is the most that a query reads.
const (
	maxBatch = 100
	maxPage  = 1000
)

// getAll returns the items with the keys by strongly consistent reads, and nil where there is
// none. It is no snapshot: items may be read at different times. It reads each distinct key once.
func (s *Store) getAll(ctx context.Context, keys []item) ([]item, error) {
	return s.getAllOf(ctx, keys, "")
}

// getAllOf does what getAll does, with those attributes only that the projection names, or with all if it is "".
func (s *Store) getAllOf(ctx context.Context, keys []item, projection string) ([]item, error) {
	read := types.KeysAndAttributes{ConsistentRead: aws.Bool(true)}
	if projection != "" {
		read.ProjectionExpression, read.ExpressionAttributeNames = &projection, names(projection)
	}
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
		read.Keys = batch
		out, err := s.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{s.table: read},
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

// query returns up to limit items that the query finds. It reads a page when the caller asks for
// the first item of it.
func (s *Store) query(ctx context.Context, limit int, in *dynamodb.QueryInput) iter.Seq2[item, error] {
	in.TableName, in.Limit = &s.table, aws.Int32(int32(min(limit, maxPage)))
	if in.FilterExpression != nil {
		in.Limit = aws.Int32(maxPage) // counts items before the filter
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

// explain returns an error that tells the operator what to fix, or the client when to come back.
// It returns any other error as it is.
func (s *Store) explain(err error) error {
	if _, ok := errors.AsType[*types.TransactionConflictException](err); ok || throttled(err) {
		return busy(err)
	}
	if _, ok := errors.AsType[*types.ResourceNotFoundException](err); ok {
		return fmt.Errorf("there is no table %s in this region and account", s.table)
	}
	return err
}

// throttled reports whether AWS refused a call because the table or a partition is too busy.
func throttled(err error) bool {
	_, table := errors.AsType[*types.ThrottlingException](err)
	_, partition := errors.AsType[*types.ProvisionedThroughputExceededException](err)
	_, account := errors.AsType[*types.RequestLimitExceeded](err)
	return table || partition || account
}

func notFound() error { return failure.New(failure.NotFound, "not found") }
