// Package sqs announces waiting requests and deliveries in SQS queues. The body of a message about a request is its
// id and nothing else, or Foretold if a request may come soon.
package sqs

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"lipsync/internal/domain/lipsync"
)

// Foretold is the body of a message that a small request may come soon.
const Foretold = "foretold"

// Queue sends hints to a queue of SQS.
type Queue struct {
	client *sqs.Client
	url    string
}

// New returns the queue at the URL.
func New(cfg aws.Config, url string) *Queue {
	return &Queue{client: sqs.NewFromConfig(cfg), url: url}
}

var _ lipsync.Hints = (*Queue)(nil)

func (q *Queue) Send(ctx context.Context, r lipsync.Request) error {
	return q.send(ctx, r.ID)
}

// Foretell sends a message that a small request may come soon.
func (q *Queue) Foretell(ctx context.Context) error { return q.send(ctx, Foretold) }

func (q *Queue) send(ctx context.Context, body string) error {
	_, err := q.client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &q.url, MessageBody: &body})
	if err != nil {
		return fmt.Errorf("send %s to the queue: %w", body, err)
	}
	return nil
}
