package sqs

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"lipsync/internal/domain/lipsync"
)

// longestDelay is the longest time for which SQS keeps a message back. A delivery that is due later is
// found by the sweep.
const longestDelay = 15 * time.Minute

// Deliveries announces deliveries in an SQS queue.
type Deliveries struct {
	client *sqs.Client
	url    string
}

// NewDeliveries returns the queue at the URL.
func NewDeliveries(cfg aws.Config, url string) *Deliveries {
	return &Deliveries{client: sqs.NewFromConfig(cfg), url: url}
}

// letter is the body of a message: a delivery that is due.
type letter struct {
	Webhook  string `json:"webhook"`
	Delivery string `json:"delivery"`
}

var _ lipsync.Announcer = (*Deliveries)(nil)

// Announce sends a message. Its group is its webhook: if the messages of one
// webhook take long, SQS prefers those of others.
func (q *Deliveries) Announce(ctx context.Context, webhook, id string, pause time.Duration) error {
	if pause > longestDelay {
		return nil
	}
	body, err := json.Marshal(letter{webhook, id})
	if err != nil {
		return err
	}
	_, err = q.client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: &q.url, MessageBody: aws.String(string(body)), MessageGroupId: &webhook, DelaySeconds: int32(math.Ceil(pause.Seconds())),
	})
	if err != nil {
		return fmt.Errorf("send the delivery %s to the queue: %w", id, err)
	}
	return nil
}

// DeliveryHandler returns a function of Lambda that calls deliver for each message of an event, all at
// once. SQS delivers the messages again whose call fails, or that name no delivery: see Handler.
func DeliveryHandler(deliver func(ctx context.Context, webhook, id string) error, failed func(n int), log *slog.Logger) func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
	return func(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
		errs := make([]error, len(e.Records))
		var all sync.WaitGroup
		for i, m := range e.Records {
			all.Go(func() {
				l, err := readLetter(m.Body)
				if err == nil {
					err = deliver(ctx, l.Webhook, l.Delivery)
				}
				errs[i] = err
			})
		}
		all.Wait()
		failures := []events.SQSBatchItemFailure{} // not nil: see Handler
		for i, m := range e.Records {
			if errs[i] != nil {
				log.ErrorContext(ctx, "message failed", "message", m.MessageId, "error", errs[i])
				failures = append(failures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
			}
		}
		if len(failures) > 0 {
			failed(len(failures))
		}
		return events.SQSEventResponse{BatchItemFailures: failures}, nil
	}
}

func readLetter(body string) (l letter, err error) {
	if err := json.Unmarshal([]byte(body), &l); err != nil {
		return l, fmt.Errorf("message is not a delivery: %w", err)
	}
	if l.Webhook == "" || l.Delivery == "" || len(l.Webhook) > 255 || len(l.Delivery) > 255 {
		return l, fmt.Errorf("message names no delivery: %.100q", body)
	}
	return l, nil
}
