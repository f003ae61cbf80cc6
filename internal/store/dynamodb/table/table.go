// Package table reads and changes the items of one DynamoDB table: their attributes, expressions of changes and conditions, transactions that
// are tried again while others come first, queries by page, and partitions and counters in several parts. It knows nothing of what the items stand
// for.
//
// It imports failures, and nothing else of this repository.
package table

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/domain/failure"
)

// These are the attributes that the table's definition names. All are strings, except TimeToLive,
// which is a number of seconds since 1970.
const (
	PartitionKey = "pk"
	SortKey      = "sk"
	TimeToLive   = "ttl"

	// OpenIndex is a sparse index with all attributes.
	OpenIndex     = "open"
	OpenPartition = "open"
	OpenSort      = "openAt"
)

// Table is a table of DynamoDB.
type Table struct {
	client API
	name   string
}

// On returns the table with the name, which it calls by the client. The client may be a table in
// memory. It must retry throttled calls itself.
func On(client API, name string) *Table { return &Table{client, name} }

// API is the part of DynamoDB's API that a Table calls. *dynamodb.Client is one.
type API interface {
	dynamodb.QueryAPIClient
	GetItem(ctx context.Context, in *dynamodb.GetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, options ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, options ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, options ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// Get returns the item with the key by a strongly consistent read, or NotFound.
func (t *Table) Get(ctx context.Context, key Item) (Item, error) {
	out, err := t.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &t.name, Key: key, ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, t.explain(err)
	}
	if out.Item == nil {
		return nil, NotFound()
	}
	return out.Item, nil
}

// Find does what Get does, but a missing item is nil, and no error.
func (t *Table) Find(ctx context.Context, key Item) (Item, error) {
	i, err := t.Get(ctx, key)
	return i, failure.Unless(failure.NotFound, err)
}

// MaxBatch is the most items that one call reads by key; maxPage is the most that a query reads.
const (
	MaxBatch = 100
	maxPage  = 1000
)

// GetAll returns the items with the keys by strongly consistent reads, and nil where there is
// none. It is no snapshot: items may be read at different times. It reads each distinct key once.
func (t *Table) GetAll(ctx context.Context, keys []Item) ([]Item, error) {
	return t.getAllOf(ctx, keys, "")
}

// getAllOf does what GetAll does, with those attributes only that the projection names, or with all if it is "".
func (t *Table) getAllOf(ctx context.Context, keys []Item, projection string) ([]Item, error) {
	read := types.KeysAndAttributes{ConsistentRead: aws.Bool(true)}
	if projection != "" {
		read.ProjectionExpression, read.ExpressionAttributeNames = &projection, names(projection)
	}
	found := make(map[string]Item)
	var wanted []Item
	for _, key := range keys {
		if _, ok := found[address(key)]; !ok {
			found[address(key)] = nil
			wanted = append(wanted, key)
		}
	}
	for n := 0; len(wanted) > 0; n++ {
		batch := wanted[:min(len(wanted), MaxBatch)]
		read.Keys = batch
		out, err := t.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{t.name: read},
		})
		if err != nil {
			return nil, t.explain(err)
		}
		for _, i := range out.Responses[t.name] {
			found[address(i)] = i
		}
		left := out.UnprocessedKeys[t.name].Keys
		if wanted = append(left[:len(left):len(left)], wanted[len(batch):]...); len(left) > 0 {
			if err := pause(ctx, backoff(n)); err != nil {
				return nil, err
			}
		}
	}
	all := make([]Item, len(keys))
	for i, key := range keys {
		all[i] = found[address(key)]
	}
	return all, nil
}

// Query returns up to limit items that the query finds. It reads a page when the caller asks for
// the first item of it.
func (t *Table) Query(ctx context.Context, limit int, in *dynamodb.QueryInput) iter.Seq2[Item, error] {
	in.TableName, in.Limit = &t.name, aws.Int32(int32(min(limit, maxPage)))
	if in.FilterExpression != nil {
		in.Limit = aws.Int32(maxPage) // counts items before the filter
	}
	in.ExpressionAttributeNames = names(aws.ToString(in.KeyConditionExpression), aws.ToString(in.FilterExpression), aws.ToString(in.ProjectionExpression))
	return func(yield func(Item, error) bool) {
		for pages := dynamodb.NewQueryPaginator(t.client, in); pages.HasMorePages(); {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(nil, t.explain(err))
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
func (t *Table) explain(err error) error {
	if _, ok := errors.AsType[*types.TransactionConflictException](err); ok || throttled(err) {
		return busy(err)
	}
	if _, ok := errors.AsType[*types.ResourceNotFoundException](err); ok {
		return fmt.Errorf("there is no table %s in this region and account", t.name)
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

// NotFound returns the error for an item that isn't there.
func NotFound() error { return failure.New(failure.NotFound, "not found") }

// Count returns how many items the query finds, at most limit.
func (t *Table) Count(ctx context.Context, limit int, in *dynamodb.QueryInput) (n int, err error) {
	n, _, err = t.CountBoth(ctx, limit, in)
	return n, err
}

// CountBoth returns how many items the query reads, at most limit, and how many of these its filter leaves.
func (t *Table) CountBoth(ctx context.Context, limit int, in *dynamodb.QueryInput) (n, left int, err error) {
	if limit <= 0 {
		return 0, 0, nil
	}
	in.TableName, in.Select = &t.name, types.SelectCount
	in.Limit = aws.Int32(int32(min(limit, math.MaxInt32))) // the size of a page: the paginator sets it again
	in.ExpressionAttributeNames = names(aws.ToString(in.KeyConditionExpression), aws.ToString(in.FilterExpression))
	for pages := dynamodb.NewQueryPaginator(t.client, in); pages.HasMorePages() && n < limit; {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return 0, 0, t.explain(err)
		}
		n, left = n+int(page.ScannedCount), left+int(page.Count)
	}
	return n, left, nil
}
