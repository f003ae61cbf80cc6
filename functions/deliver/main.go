// Command deliver is the function that delivers events to webhooks.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lipsync/internal/cloud"
	"lipsync/internal/cloud/media"
	"lipsync/internal/cloud/messages"
	"lipsync/internal/cloud/posts"
	"lipsync/internal/sqs"
)

func main() {
	deployment, err := cloud.New(cloud.Config(os.Getenv), os.Getenv, os.Stdout, cloud.Records, media.Signed, messages.Deliveries, posts.Client, cloud.Retention)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(sqs.DeliveryHandler(deployment.Service.Deliver, deployment.Metrics.MessagesFailed, deployment.Log))
}
