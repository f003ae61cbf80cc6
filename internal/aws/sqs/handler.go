package sqs

import (
	"context"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/uuid"
)

// Handler returns a function of Lambda that calls scale once for all messages of an event, if any
// of them names a request. SQS delivers a message again that names none, or all messages if scale
// fails, and finally moves them to the dead-letter queue. The function's event source must have
// ReportBatchItemFailures. AWS then counts no error, so the handler calls failed with the number of
// messages that failed, if any did.
func Handler(scale func(ctx context.Context) error, failed func(n int), log *slog.Logger) func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
	return func(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
		// It must not be nil, which would be null in JSON and mean that all failed.
		failures := []events.SQSBatchItemFailure{}
		fail := func(m events.SQSMessage) {
			failures = append(failures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
		}
		var good []events.SQSMessage
		for _, m := range e.Records {
			if isID(m.Body) {
				good = append(good, m)
			} else {
				log.ErrorContext(ctx, "message is not a request id", "message", m.MessageId, "received", m.Attributes["ApproximateReceiveCount"])
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
	return err == nil && id.String() == body // Parse also accepts other spellings
}
