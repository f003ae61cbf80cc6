// Package sqs announces waiting requests and deliveries in SQS queues. The body of a message about a request is its
// id and nothing else.
package sqs

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"lipsync/internal/domain/lipsync"
)

// Queue implements lipsync.Queue.
type Queue struct {
	client *sqs.Client
	url    string
}

// New returns the queue at the URL.
func New(cfg aws.Config, url string) *Queue {
	return &Queue{client: sqs.NewFromConfig(cfg), url: url}
}

var _ lipsync.Queue = (*Queue)(nil)

func (q *Queue) Send(ctx context.Context, r lipsync.Request) error {
	_, err := q.client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &q.url, MessageBody: &r.ID})
	if err != nil {
		return fmt.Errorf("send %s to the queue: %w", r.ID, err)
	}
	return nil
}
