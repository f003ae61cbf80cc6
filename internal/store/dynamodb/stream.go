package dynamodb

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/table"
)

// StreamFilters returns the patterns of Lambda for those records of the table's stream that StreamHandler may need: changes of
// requests that are no longer queued, and of batches that are finished. Others would call the function for nothing.
func StreamFilters() []string {
	changed := func(sort string, image map[string]any) string {
		text, err := json.Marshal(map[string]any{
			"eventName": []string{"MODIFY"},
			"dynamodb":  map[string]any{"Keys": map[string]any{table.SortKey: map[string]any{"S": []string{sort}}}, "NewImage": image},
		})
		if err != nil {
			panic(err) // can't happen: maps and strings always encode
		}
		return string(text)
	}
	return []string{
		changed(ofRequest, map[string]any{"status": map[string]any{"S": []lipsync.Status{lipsync.Processing, lipsync.Completed, lipsync.Failed}}}),
		changed(ofBatch, map[string]any{"finishedAt": map[string]any{"N": []any{map[string]any{"exists": true}}}}),
	}
}

// answerTime is the time before the end of a function's time at which publish must end.
const answerTime = 5 * time.Second

// StreamHandler returns a function of Lambda that calls publish for the changes in a part of the table's stream, which has old and new
// images. publish returns how many of the first changes are done, and an error if not all are. The stream then gives the others again, and
// what follows. So the function's event source must have ReportBatchItemFailures. AWS counts no error if some are done, so the handler calls
// failed with the number of the others. An item that can't be read is logged, counted and left out, since it would stop all that follow.
func StreamHandler(publish func(context.Context, []lipsync.Change) (int, error), failed func(n int), log *slog.Logger) func(context.Context, events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	return func(ctx context.Context, e events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
		var changes []lipsync.Change
		var numbers []string // of the changes in the stream
		for _, r := range e.Records {
			c, ok, err := changeOf(r.Change)
			switch {
			case err != nil:
				log.ErrorContext(ctx, "changed item can't be read", "number", r.Change.SequenceNumber, "error", err)
				failed(1)
			case ok:
				changes, numbers = append(changes, c), append(numbers, r.Change.SequenceNumber)
			}
		}
		answer := events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}
		if end, ok := ctx.Deadline(); ok { // time to tell how many are done
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, end.Add(-answerTime))
			defer cancel()
		}
		done, err := publish(ctx, changes)
		if err == nil || done == 0 {
			return answer, err
		}
		log.ErrorContext(ctx, "changes not published", "changes", len(changes)-done, "error", err)
		failed(len(changes) - done)
		answer.BatchItemFailures = append(answer.BatchItemFailures, events.DynamoDBBatchItemFailure{ItemIdentifier: numbers[done]})
		return answer, nil
	}
}

// changeOf returns the change of a request or a batch in a record of the stream. ok is false if the record is another one.
func changeOf(r events.DynamoDBStreamRecord) (c lipsync.Change, ok bool, err error) {
	was, is := imageOf(r.OldImage), imageOf(r.NewImage)
	if len(was) == 0 || len(is) == 0 { // a new or a deleted item
		return lipsync.Change{}, false, nil
	}
	var partition, sort string
	_ = table.Decode(is, table.Fields{table.PartitionKey: &partition, table.SortKey: &sort}) // both are strings in every item
	switch {
	case sort == ofRequest && strings.HasPrefix(partition, "request/"):
		var to stored
		if to, err = decodeRequest(is, nil); err == nil {
			err = table.Decode(was, table.Fields{"status": (*string)(&c.Was)})
		}
		c.Request = to.Request
	case sort == ofBatch && strings.HasPrefix(partition, "batch/"):
		c.Batch, err = decodeBatch(is)
	default:
		return lipsync.Change{}, false, nil
	}
	if err != nil {
		return lipsync.Change{}, false, fmt.Errorf("%s: %w", partition, err)
	}
	return c, true, nil
}

// imageOf returns the item in a record of the stream, without attributes of kinds that requests and batches don't have.
func imageOf(image map[string]events.DynamoDBAttributeValue) table.Item {
	i := make(table.Item)
	for name, v := range image {
		switch v.DataType() {
		case events.DataTypeString:
			i[name] = table.Text(v.String())
		case events.DataTypeNumber:
			i[name] = &types.AttributeValueMemberN{Value: v.Number()}
		case events.DataTypeBoolean:
			i[name] = &types.AttributeValueMemberBOOL{Value: v.Boolean()}
		case events.DataTypeBinary:
			i[name] = &types.AttributeValueMemberB{Value: v.Binary()}
		}
	}
	return i
}
