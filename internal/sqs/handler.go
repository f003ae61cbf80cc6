package sqs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/uuid"
)

// Handler makes a function of Lambda that hands each message's id on. What fails
// comes again by itself, whatever becomes of the messages beside it, and in the
// end lands in the dead-letter queue. The function's event source must have
// ReportBatchItemFailures: then AWS counts no error, so the handler tells failed how
// many messages failed, if any did. The ids of an event, 10 at most, are handled at the
// same time, since each waits for calls of AWS, and each once, however often it is there.
func Handler(handle func(ctx context.Context, id string) error, failed func(n int), log *slog.Logger) func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
	return func(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
		errs := handleAll(ctx, e.Records, handle)
		// Not nil, which would be null in JSON and mean that all failed.
		failures := []events.SQSBatchItemFailure{}
		for _, m := range e.Records {
			if err := errs[m.Body]; err != nil {
				log.ErrorContext(ctx, "message failed", "message", m.MessageId, "received", m.Attributes["ApproximateReceiveCount"], "error", err)
				failures = append(failures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
			}
		}
		if len(failures) > 0 {
			failed(len(failures))
		}
		return events.SQSEventResponse{BatchItemFailures: failures}, nil
	}
}

// handleAll returns what came of each body.
func handleAll(ctx context.Context, messages []events.SQSMessage, handle func(ctx context.Context, id string) error) map[string]error {
	errs := map[string]error{}
	for _, m := range messages {
		errs[m.Body] = nil
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	for body := range maps.Clone(errs) {
		all.Go(func() {
			err := handleBody(ctx, body, handle)
			mu.Lock()
			defer mu.Unlock()
			errs[body] = err
		})
	}
	all.Wait()
	return errs
}

func handleBody(ctx context.Context, body string, handle func(ctx context.Context, id string) error) error {
	id, err := uuid.Parse(body)
	if err != nil || id.String() != body { // Parse takes other ways to write it, too
		return errors.New("the body is no request id")
	}
	if err := handle(ctx, body); err != nil {
		return fmt.Errorf("request %s: %w", body, err)
	}
	return nil
}
