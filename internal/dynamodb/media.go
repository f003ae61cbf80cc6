package dynamodb

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/lipsync"
)

// Uses implements lipsync.Requests.
func (s *Store) Uses(ctx context.Context, account, object string) (bool, error) {
	const uses = "#videoObject = :object OR #audioObject = :object"
	for _, status := range []lipsync.Status{lipsync.Queued, lipsync.Processing} {
		for pages := dynamodb.NewQueryPaginator(s.client, &dynamodb.QueryInput{
			TableName: &s.table, IndexName: aws.String(OpenIndex), Select: types.SelectCount,
			KeyConditionExpression:    aws.String("#open = :list"),
			FilterExpression:          aws.String(uses),
			ExpressionAttributeNames:  names("#open", uses),
			ExpressionAttributeValues: item{":list": text(withStatus(account, "", status)), ":object": text(object)},
		}); pages.HasMorePages(); {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return false, s.explain(err)
			}
			if page.Count > 0 {
				return true, nil
			}
		}
	}
	return false, nil
}

// ForgetMedia implements lipsync.Requests.
func (s *Store) ForgetMedia(ctx context.Context, id string, now time.Time) (lipsync.Request, error) {
	now = now.Truncate(time.Microsecond) // as it is stored
	return s.change(ctx, id, nil, func(r stored) (stored, error) {
		switch {
		case !r.Status.Final():
			return stored{}, refusal(lipsync.Conflict, "request is not final")
		case r.MediaDeletedAt.IsZero():
			r.MediaDeletedAt, r.Output = now, ""
		}
		return r, nil
	})
}

// uncountSize takes the bytes of an output that was deleted from those that the account
// stores.
func (s *Store) uncountSize(r lipsync.Request) step {
	return change{key: dayKey(r.Account, r.CreatedAt), add: item{"size": number(-r.Size)}}.step(s.table)
}
