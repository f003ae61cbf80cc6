// Package messages gives programs on AWS the queue of hints. Only programs that import it link the
// SDK's client of SQS.
package messages

import (
	"lipsync/internal/aws/cloud"
	"lipsync/internal/aws/sqs"
	"lipsync/internal/domain/settings"
)

// Queue adds the queue to which hints are sent.
func Queue(d *cloud.Deployment) {
	queue := sqs.New(d.Config, settings.QueueURL.In(d.Settings))
	d.Ports.Hints, d.Ports.Foretell = queue, queue.Foretell
}

// Deliveries adds the queue to which deliveries are announced.
func Deliveries(d *cloud.Deployment) {
	d.Ports.Announcer = sqs.NewDeliveries(d.Config, settings.DeliveriesURL.In(d.Settings))
}
