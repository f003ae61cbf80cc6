package dynamodb

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/lipsync"
)

// checkOpen returns OpenLimit if the account has as many open requests as it may have;
// 0 is any number.
//
// What ends takes nothing off the counter of open requests: they are counted anew when
// it comes to the limit. So the end of a request writes nothing that creates write too,
// and no error in the counter stays.
func (s *Store) checkOpen(ctx context.Context, account string, seen *sight, limit int) (err error) {
	if limit == 0 || seen.known && seen.opened < int64(limit) {
		return nil
	}
	if seen.opened, err = s.countOpen(ctx, account, limit); err != nil {
		return err
	}
	seen.known = true
	if seen.opened >= int64(limit) {
		return refusal(lipsync.OpenLimit, "too many open requests")
	}
	return nil
}

// countOpen returns how many open requests the account has; of each status it counts up
// to a number.
func (s *Store) countOpen(ctx context.Context, account string, most int) (n int64, err error) {
	for _, status := range []lipsync.Status{lipsync.Queued, lipsync.Processing} {
		var counted int64
		for pages := dynamodb.NewQueryPaginator(s.client, &dynamodb.QueryInput{
			TableName: &s.table, IndexName: aws.String(OpenIndex), Select: types.SelectCount, Limit: aws.Int32(int32(most)),
			KeyConditionExpression:    aws.String("#open = :list"),
			ExpressionAttributeNames:  names("#open"),
			ExpressionAttributeValues: item{":list": text(withStatus(account, "", status))},
		}); pages.HasMorePages() && counted < int64(most); {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return 0, s.explain(err)
			}
			counted += int64(page.Count)
		}
		n += counted
	}
	return n, nil
}

// uploadedKey is the item that counts the bytes of an account's uploads. It is behind
// those that count by days.
func uploadedKey(account string) item { return key(usage(account), uploaded) }

const uploaded = "uploads"

// stored returns how many bytes the account stores, and how many of them are outputs.
func (s *Store) stored(ctx context.Context, account string, now time.Time, limits lipsync.Limits) (all, outputs int64, err error) {
	first := now.UTC().AddDate(0, 0, 1-limits.Keep.OutputDays())
	for i, err := range s.query(ctx, maxBatch, &dynamodb.QueryInput{
		KeyConditionExpression: aws.String("#pk = :usage AND #sk BETWEEN :first AND :uploads"),
		ExpressionAttributeValues: item{
			":usage": text(usage(account)), ":first": dayKey(account, first)[SortKey], ":uploads": text(uploaded),
		},
		ConsistentRead: aws.Bool(true),
	}) {
		if err != nil {
			return 0, 0, err
		}
		var size int64
		var sort string
		if err := decode(i, []field{{"size", &size}, {SortKey, &sort}}); err != nil {
			return 0, 0, err
		}
		all += size
		if sort != uploaded {
			outputs += size
		}
	}
	return all, outputs, nil
}
