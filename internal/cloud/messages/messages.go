// Package messages gives programs on AWS the queue. Only those link the SDK's client of SQS
// that import it.
package messages

import (
	"lipsync/internal/cloud"
	"lipsync/internal/settings"
	"lipsync/internal/sqs"
)

// Queue tells of requests that wait.
func Queue(d *cloud.Deployment) {
	d.Service.Queue = sqs.New(d.Config, settings.QueueURL.In(d.Settings))
}
