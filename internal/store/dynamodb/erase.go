package dynamodb

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/domain/failure"
)

// Erase implements lipsync.Requests. The lists of the account keep the id, which is a random number.
func (s requests) Erase(ctx context.Context, id string) error {
	return retryConflicts(ctx, func(int) error {
		r, err := s.request(ctx, id)
		if err == nil {
			err = r.CheckErase()
		}
		if err != nil {
			return failure.Unless(failure.NotFound, err)
		}
		gone := s.remove(requestKey(id), "attribute_exists(#pk)", conflict{})
		return s.transact(ctx, []step{gone, s.remove(entryKey(id), "", nil), s.countRecord(r.Request, -r.RecordSize())})
	})
}

// Expire implements lipsync.Requests. Records have a TimeToLive.
func (s requests) Expire(context.Context, time.Time) (int, error) { return 0, nil }

func (s batches) Erase(ctx context.Context, id string) error {
	condition := "attribute_exists(#finishedAt)"
	_, err := s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &s.table, Key: batchKey(id), ConditionExpression: &condition, ExpressionAttributeNames: names(condition),
	})
	if _, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return nil
	}
	return s.explain(err)
}

// Expire implements lipsync.Batches. Records have a TimeToLive.
func (s batches) Expire(context.Context, time.Time) (int, error) { return 0, nil }
