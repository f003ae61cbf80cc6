package sqs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/uuid"
)

// Handler makes a function of Lambda that hands each message's id on. What fails
// comes again by itself, whatever becomes of the messages beside it, and in the
// end lands in the dead-letter queue. The function's event source must have
// ReportBatchItemFailures.
func Handler(handle func(ctx context.Context, id string) error, log *slog.Logger) func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
	return func(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
		// Not nil, which would be null in JSON and mean that all failed.
		failures := []events.SQSBatchItemFailure{}
		for _, m := range e.Records {
			if err := handleMessage(ctx, m, handle); err != nil {
				log.ErrorContext(ctx, "message failed", "message", m.MessageId, "received", m.Attributes["ApproximateReceiveCount"], "err", err)
				failures = append(failures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
			}
		}
		return events.SQSEventResponse{BatchItemFailures: failures}, nil
	}
}

func handleMessage(ctx context.Context, m events.SQSMessage, handle func(ctx context.Context, id string) error) error {
	id, err := uuid.Parse(m.Body)
	if err != nil || id.String() != m.Body { // Parse takes other ways to write it, too
		return errors.New("the body is no request id")
	}
	if err := handle(ctx, m.Body); err != nil {
		return fmt.Errorf("request %s: %w", m.Body, err)
	}
	return nil
}
