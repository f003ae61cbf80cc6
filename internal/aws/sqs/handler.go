package sqs

import (
	"context"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/uuid"
)

// shown is the time after which the table's index surely shows a request; it lags by some .03 s. One that shows later waits for the sweep.
const shown = time.Second

// stale is the age from which a message that a request may come is of no use: the request came, or doesn't come.
const stale = time.Minute

// Scaler starts workers, as service.Service does.
type Scaler interface {
	Scale(context.Context) error
	Expect(context.Context) error
}

// Handler returns a function of Lambda that calls Scale once for an event, unless an earlier Scale has counted all
// requests that it names, or left them to another process that counted. So old messages of a burst take no time. It calls
// Expect for an event that only tells that requests may come soon. SQS delivers a message again that is neither, or all
// messages of requests if Scale fails, and finally moves them to the dead-letter queue. The function's event source must
// have ReportBatchItemFailures. AWS then counts no error, so the handler calls failed with the number of messages that
// failed, if any did.
func Handler(s Scaler, failed func(n int), log *slog.Logger) func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
	var counted atomic.Int64 // time in ms: Scale has counted the requests of messages that were sent before. Lambda gives one event at a time
	return func(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
		// It must not be nil, which would be null in JSON and mean that all failed.
		failures := []events.SQSBatchItemFailure{}
		fail := func(m events.SQSMessage) {
			failures = append(failures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
		}
		var good []events.SQSMessage
		var received int64
		expected := false
		for _, m := range e.Records {
			sent, came := millis(m, "SentTimestamp"), millis(m, "ApproximateFirstReceiveTimestamp")
			switch {
			case m.Body == Foretold:
				expected = expected || came-sent < stale.Milliseconds()
			case isID(m.Body) && sent > 0 && sent < counted.Load():
			case isID(m.Body):
				good = append(good, m)
				received = max(received, came)
			default:
				log.ErrorContext(ctx, "message is neither a request id nor "+Foretold, "message", m.MessageId, "received", m.Attributes["ApproximateReceiveCount"])
				fail(m)
			}
		}
		if len(good) > 0 {
			if err := s.Scale(ctx); err != nil {
				log.ErrorContext(ctx, "messages failed", "messages", len(good), "error", err)
				for _, m := range good {
					fail(m)
				}
			} else {
				counted.Store(max(counted.Load(), received-shown.Milliseconds()))
			}
		}
		if expected && len(good) == 0 { // else workers were just counted
			if err := s.Expect(ctx); err != nil {
				log.WarnContext(ctx, "no worker waits for the next request", "error", err)
			}
		}
		if len(failures) > 0 {
			failed(len(failures))
		}
		return events.SQSEventResponse{BatchItemFailures: failures}, nil
	}
}

// millis returns an attribute of a message that is a Unix time in milliseconds, by the clock of SQS; 0 if it has none.
func millis(m events.SQSMessage, attribute string) int64 {
	n, err := strconv.ParseInt(m.Attributes[attribute], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func isID(body string) bool {
	id, err := uuid.Parse(body)
	return err == nil && id.String() == body // Parse also accepts other spellings
}
