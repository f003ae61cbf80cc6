package sqs

import (
	"context"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/uuid"
)

// Handler makes a function of Lambda that calls scale once for all messages of an event, if
// any names a request. A message that names none, and all if scale fails, come again by themselves,
// and in the end land in the dead-letter queue. The function's event source must have
// ReportBatchItemFailures: then AWS counts no error, so the handler tells failed how
// many messages failed, if any did.
func Handler(scale func(ctx context.Context) error, failed func(n int), log *slog.Logger) func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
	return func(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
		// Not nil, which would be null in JSON and mean that all failed.
		failures := []events.SQSBatchItemFailure{}
		fail := func(m events.SQSMessage) {
			failures = append(failures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
		}
		var good []events.SQSMessage
		for _, m := range e.Records {
			if isID(m.Body) {
				good = append(good, m)
			} else {
				log.ErrorContext(ctx, "message is no request id", "message", m.MessageId, "received", m.Attributes["ApproximateReceiveCount"])
				fail(m)
			}
		}
		if len(good) > 0 {
			if err := scale(ctx); err != nil {
				log.ErrorContext(ctx, "messages failed", "messages", len(good), "error", err)
				for _, m := range good {
					fail(m)
				}
			}
		}
		if len(failures) > 0 {
			failed(len(failures))
		}
		return events.SQSEventResponse{BatchItemFailures: failures}, nil
	}
}

func isID(body string) bool {
	id, err := uuid.Parse(body)
	return err == nil && id.String() == body // Parse takes other ways to write it, too
}
